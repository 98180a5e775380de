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
(require 'cl-lib)
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

;; Emacs must not end before a message of the server has arrived.
(defvar hiera-test-told nil "What the server has told the user, the last first.")
(cl-defmethod eglot-handle-notification :before (_server (_method (eql window/showMessage)) &key message &allow-other-keys)
  (push message hiera-test-told))

(defun hiera-test-open (path)
  "Open PATH of the workspace with the server attached."
  (find-file (expand-file-name path (getenv "WORKSPACE")))
  (unless (eglot-managed-p)
    (apply #'eglot (eglot--guess-contact)))
  (hiera-test-wait "the server" #'eglot-managed-p)
  (eglot--signal-textDocument/didChange))

(defun hiera-test-hover (text &optional at)
  "What the server shows on the first place of TEXT, or of AT in its line."
  (goto-char (point-min))
  (search-forward text)
  (if at
      (progn (beginning-of-line) (search-forward at (line-end-position)) (goto-char (1+ (match-beginning 0))))
    (backward-char))
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

;; The same table is asked in every editor.
(let* ((table (expand-file-name "../places.json" (file-name-directory load-file-name)))
       (number 0))
  (dolist (place (with-temp-buffer
                   (insert-file-contents table)
                   (json-parse-buffer :object-type 'plist :array-type 'list)))
    (setq number (1+ number))
    (eval
     `(ert-deftest ,(intern (format "hiera-1-place-%02d" number)) ()
        ,(plist-get place :what)
        (hiera-test-open ,(plist-get place :file))
        ;; A hover may break its lines anywhere between words.
        (let ((shown (replace-regexp-in-string
                      "[ \t\n]+" " " (hiera-test-hover ,(plist-get place :line) ,(plist-get place :at)))))
          (dolist (part ',(plist-get place :shows))
            (should (string-match-p (regexp-quote part) shown)))
          (dolist (part ',(plist-get place :never))
            (should-not (string-match-p (regexp-quote part) shown)))))
     t)))

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

(ert-deftest hiera-5-documents ()
  (hiera-test-open "data/role/web.yaml")
  (goto-char (point-min))
  (search-forward "profile::web::tags")
  (backward-char)
  (hiera-ls-matrix)
  (with-current-buffer "*Values of profile::web::tags*"
    (should (string-match-p "web01.nyc.acme.example" (buffer-string)))
    (should buffer-read-only))
  (set-buffer (find-file-noselect (expand-file-name "data/role/web.yaml" (getenv "WORKSPACE"))))
  (hiera-ls-explain)
  (should (seq-some (lambda (buffer) (string-match-p "profile::web::tags" (buffer-name buffer)))
                    (buffer-list))))

(ert-deftest hiera-5-compare ()
  (hiera-test-open "data/role/web.yaml")
  (let (compared)
    ;; Ediff itself needs a screen.
    (cl-letf (((symbol-function 'ediff-buffers)
               (lambda (one other &rest _)
                 (setq compared (mapcar (lambda (buffer) (with-current-buffer buffer (buffer-string)))
                                        (list one other))))))
      (hiera-ls-compare-nodes "web01.lon.acme.example" "web01.nyc.acme.example"))
    (should (string-match-p "timezone: Europe/London" (nth 0 compared)))
    (should (string-match-p "timezone: America/New_York" (nth 1 compared)))))

(ert-deftest hiera-5-upgrade ()
  (hiera-test-open "data/role/db.yaml")
  (goto-char (point-max))
  (insert "profile::db::host: \"%{::fqdn}\"\n")
  (let ((edited (current-buffer)))
    (unwind-protect
        (progn
          (eglot--signal-textDocument/didChange)
          (save-current-buffer (hiera-ls-upgrade 8 7))
          (with-current-buffer "*Upgrade from Puppet 7 to Puppet 8*"
            (should (string-match-p "1 key fails on 2 nodes: profile::db::host" (buffer-string)))
            (should (string-match-p "Undefined variable '::fqdn'" (buffer-string)))
            (should buffer-read-only))
          (set-buffer edited)
          (should (string-match-p "changes in 8: fails on 2 of 8 nodes" (hiera-test-hover "profile::db::host")))
          (hiera-ls-upgrade nil)
          (set-buffer edited)
          (should-not (string-match-p "changes in 8" (hiera-test-hover "profile::db::host"))))
      (with-current-buffer edited
        (set-buffer-modified-p nil)
        (revert-buffer t t t)))))

(ert-deftest hiera-5-node-and-fact ()
  (hiera-test-open "data/role/web.yaml")
  (hiera-ls-select-node "web01.nyc.acme.example")
  (should-not (string-match-p "tls" (hiera-test-hover "profile::web::tags")))
  (hiera-ls-select-node nil)
  (should (string-match-p "tls" (hiera-test-hover "profile::web::tags")))
  (hiera-ls-override-fact "processors.count" 16)
  (should (string-match-p "16" (hiera-test-hover "profile::web::workers")))
  (hiera-ls-clear-overrides)
  (should (equal (plist-get (hiera-ls-ask "hiera.facts") :overrides) nil)))

(ert-deftest hiera-5-why-not-and-set-value ()
  (hiera-test-open "data/common.yaml")
  (goto-char (point-min))
  (search-forward "profile::web::port")
  (backward-char)
  (save-current-buffer
    (hiera-ls-why-not "8080" "web01.lon.acme.example"))
  (let ((why (seq-find (lambda (buffer) (string-match-p "Why web01.lon.acme.example" (buffer-name buffer)))
                       (buffer-list))))
    (should why)
    (should (string-match-p "sets it to 9443, which is used" (with-current-buffer why (buffer-string)))))
  (let ((role (find-file-noselect (expand-file-name "data/role/web.yaml" (getenv "WORKSPACE"))))
        (node (find-file-noselect (expand-file-name "data/node/web01.lon.acme.example.yaml" (getenv "WORKSPACE"))))
        (london (find-file-noselect (expand-file-name "data/role/web-lon.yaml" (getenv "WORKSPACE")))))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt proposals &rest _)
                 (seq-find (lambda (one) (string-match-p "in data/role/web.yaml" one)) (mapcar #'car proposals))))
              ((symbol-function 'y-or-n-p) #'always))
      (hiera-ls-set-value "8443" '("role=web") t))
    (unwind-protect
        (with-current-buffer role
          (should (string-match-p "profile::web::port: 8443" (buffer-string))))
      (dolist (buffer (list role node london))
        (with-current-buffer buffer
          (set-buffer-modified-p nil)
          (revert-buffer t t t))))))

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

(ert-deftest hiera-7-rename ()
  (hiera-test-open "data/common.yaml")
  (let ((class (find-file-noselect (expand-file-name "site-modules/profile/manifests/web.pp" (getenv "WORKSPACE")))))
    (goto-char (point-min))
    (search-forward "\nprofile::web::workers")
    (backward-char)
    (cl-letf (((symbol-function 'y-or-n-p) #'always))
      (eglot-rename "profile::web::processes"))
    ;; jsonrpc.el leaves what has come with an answer until something else comes.
    (hiera-test-hover "profile::web::processes")
    (hiera-test-wait "what the rename tells"
                     (lambda () (cl-some (lambda (told) (string-match-p "renames the parameter \\$workers" told)) hiera-test-told)))
    (should (string-match-p "^profile::web::processes:" (buffer-string)))
    (should (string-match-p "\\$processes" (with-current-buffer class (buffer-string))))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (when (and buffer-file-name (buffer-modified-p))
          (set-buffer-modified-p nil)
          (revert-buffer t t t))))))

;; Nothing can work without a server: no reason to wait for each test's time to run out.
(condition-case failure
    (hiera-test-open "data/role/web.yaml")
  (error (message "the server does not attach: %S" failure) (kill-emacs 1)))
(ert-run-tests-batch-and-exit)
