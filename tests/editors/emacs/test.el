;;; The configuration of docs/editors.md for Emacs' eglot, in a real Emacs, on a copy of fixtures/acme.  -*- lexical-binding: t -*-
;;
;; Run by tests/editors/run: emacs -Q --batch -l test.el
;; In the environment: WORKSPACE, HIERA_LS_SERVER, CONFIGURATION.

;; -Q leaves out Debian's site files, which would find these.
(dolist (folder (directory-files "/usr/share/emacs/site-lisp/elpa" t
                                 "\\(eglot\\|flymake\\|jsonrpc\\|project\\|xref\\|eldoc\\|seq\\|external-completion\\|yaml-mode\\)-[0-9]"))
  (add-to-list 'load-path folder))
(require 'yaml-mode)
(require 'eglot)
(require 'ert)
(require 'flymake)

(setq eglot-connect-timeout 30 eglot-sync-connect 30)
(add-to-list 'exec-path (file-name-directory (getenv "HIERA_LS_SERVER")))
(load (getenv "CONFIGURATION") nil t)

(defun hiera-test-wait (what condition)
  "Wait for CONDITION, which is about WHAT, at most half a minute."
  (let ((limit (+ (float-time) 30)))
    (while (and (not (funcall condition)) (< (float-time) limit))
      (accept-process-output nil 0.02))
    (unless (funcall condition) (error "Timed out waiting for %s" what))))

(defun hiera-test-open (path)
  "Open PATH of the workspace with the server attached."
  (find-file (expand-file-name path (getenv "WORKSPACE")))
  (unless (eglot-managed-p)
    (apply #'eglot (eglot--guess-contact)))
  (hiera-test-wait "the server" #'eglot-managed-p)
  (eglot--signal-textDocument/didChange))

(defun hiera-test-hover (text)
  "What the server shows on the first place of TEXT."
  (goto-char (point-min))
  (search-forward text)
  (backward-char)
  (let (shown)
    (hiera-test-wait
     "a hover"
     (lambda ()
       (eglot--signal-textDocument/didChange)
       (let ((reply (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                     (eglot--TextDocumentPositionParams))))
         (setq shown (and reply (eglot--hover-info (plist-get reply :contents) (plist-get reply :range)))))))
    (substring-no-properties shown)))

(ert-deftest hiera-1-attach-and-hover ()
  (hiera-test-open "data/role/web.yaml")
  (should (derived-mode-p 'yaml-mode))
  (let ((shown (hiera-test-hover "profile::web::firewall")))
    (should (string-match-p "merged as hash from 2 levels" shown))
    (should (string-match-p "port: 443" shown))
    (should (string-match-p "common.yaml:102" shown))))

(ert-deftest hiera-2-unsaved-edit ()
  (hiera-test-open "data/role/web.yaml")
  (goto-char (point-min))
  (search-forward "profile::web::firewall:\n")
  (insert "  canary: {port: 8443}\n")
  (let ((shown (hiera-test-hover "profile::web::firewall")))
    (should (string-match-p "canary" shown)))
  (set-buffer-modified-p nil))

(ert-deftest hiera-3-problems ()
  (hiera-test-open "mistakes/values/data/families/loops.yaml")
  (flymake-mode 1)
  (flymake-start)
  (hiera-test-wait "problems" #'flymake-diagnostics)
  (should (string-match-p "lookup loop: loop::a"
                          (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\n"))))

(ert-deftest hiera-4-eyaml ()
  (hiera-test-open "data/secrets.eyaml")
  (should (derived-mode-p 'yaml-mode)))

(ert-deftest hiera-5-doctor ()
  (hiera-test-open "data/role/web.yaml")
  (hiera-ls-doctor)
  (with-current-buffer "*Hiera doctor*"
    (should (string-match-p "hiera.yaml — environment in" (buffer-string)))
    (should (string-match-p "8 nodes from nodes.json" (buffer-string)))))

(ert-deftest hiera-6-hierarchy ()
  (with-temp-file (expand-file-name "hiera-lab.yaml" (getenv "WORKSPACE"))
    (insert "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\n"
            "hierarchy:\n  - {name: Lab, path: common.yaml}\n"))
  (hiera-test-open "data/common.yaml")
  (let ((lab (expand-file-name "hiera-lab.yaml" (getenv "WORKSPACE"))))
    (unwind-protect
        (progn
          (hiera-ls-choose-hierarchy lab (getenv "WORKSPACE"))
          (hiera-test-wait "the chosen hierarchy to answer"
                           (lambda ()
                             (string-suffix-p "/hiera-lab.yaml"
                                              (plist-get (hiera-ls-ask "hiera.hierarchies") :hierarchy))))
          (hiera-ls-choose-hierarchy nil nil)
          (hiera-test-wait "the usual hierarchy to answer"
                           (lambda ()
                             (string-suffix-p "/hiera.yaml"
                                              (plist-get (hiera-ls-ask "hiera.hierarchies") :hierarchy)))))
      (delete-file lab))))

;; Nothing can work without a server: no reason to wait for each test's time to run out.
(condition-case failure
    (hiera-test-open "data/role/web.yaml")
  (error (message "the server does not attach: %S" failure) (kill-emacs 1)))
(ert-run-tests-batch-and-exit)
