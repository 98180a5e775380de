;;; The configuration of docs/editors.md for Emacs' lsp-mode, beside yaml-language-server.  -*- lexical-binding: t -*-
;;
;; Run by tests/editors/run: emacs -Q --batch -l beside.el
;; In the environment: WORKSPACE, HIERA_LS_SERVER, CONFIGURATION, YAMLLS.

(dolist (folder (directory-files "/usr/share/emacs/site-lisp/elpa" t "-[0-9.]+\\'"))
  (add-to-list 'load-path folder))
(require 'yaml-mode)
(require 'ert)
(require 'lsp-mode)
(require 'lsp-yaml)
(require 'lsp-diagnostics)
(require 'lsp-modeline)
(require 'lsp-headerline)
(require 'lsp-lens)

(defconst hiera-test-schema (make-temp-file "schema" nil ".json"
                                            "{\"properties\": {\"profile::web::firewall\": {\"description\": \"from the schema\"}}}"))
(add-to-list 'exec-path (file-name-directory (getenv "HIERA_LS_SERVER")))
;; Nothing is asked for in the network, and nothing is asked of a person.
(setq lsp-session-file (expand-file-name "session" (getenv "HOME")) lsp-enable-file-watchers nil
      lsp-yaml-server-command (list (getenv "YAMLLS") "--stdio")
      lsp-yaml-schema-store-enable nil lsp-yaml-schema-store-uri ""
      lsp-yaml-schemas `((,(intern hiera-test-schema) . "data/role/*.yaml"))
      lsp-enable-snippet nil lsp-restart 'ignore
      ;; What needs a window.
      lsp-modeline-code-actions-enable nil lsp-modeline-diagnostics-enable nil
      lsp-modeline-workspace-status-enable nil lsp-headerline-breadcrumb-enable nil lsp-lens-enable nil)
(load (getenv "CONFIGURATION") nil t)

(defun hiera-test-wait (what condition)
  "Wait for CONDITION, which is about WHAT, at most half a minute; its value."
  (let ((limit (+ (float-time) 30)) answer)
    (while (and (not (setq answer (funcall condition))) (< (float-time) limit))
      (accept-process-output nil 0.02))
    (or answer (error "Timed out waiting for %s" what))))

(defun hiera-test-servers ()
  "The names of the servers that are ready for the buffer."
  (sort (mapcar (lambda (workspace) (symbol-name (lsp--client-server-id (lsp--workspace-client workspace))))
                (seq-filter (lambda (workspace) (eq 'initialized (lsp--workspace-status workspace)))
                            (lsp-workspaces)))
        #'string<))

(defun hiera-test-problems ()
  "The source and line of each problem of the buffer."
  (sort (mapcar (lambda (problem)
                  (list (lsp:diagnostic-source? problem)
                        (1+ (lsp:position-line (lsp:range-start (lsp:diagnostic-range problem))))))
                (lsp--get-buffer-diagnostics))
        (lambda (one other) (string< (car one) (car other)))))

(defun hiera-test-text (answer)
  "All text of a hover's ANSWER."
  (let ((contents (lsp:hover-contents answer)))
    (mapconcat (lambda (part) (if (stringp part) part (lsp-get part :value)))
               (if (or (vectorp contents) (and (listp contents) (not (keywordp (car contents))))) contents (list contents))
               "\n")))

(defun hiera-test-open ()
  "The buffer of the file that all tests are about."
  (set-buffer (find-file-noselect (expand-file-name "data/role/web.yaml" (getenv "WORKSPACE")))))

(ert-deftest hiera-1-both-attach ()
  (hiera-test-open)
  (lsp-workspace-folders-add (getenv "WORKSPACE"))
  (lsp)
  (hiera-test-wait "both servers" (lambda () (equal '("hiera-ls" "yamlls") (hiera-test-servers)))))

(ert-deftest hiera-2-hover-of-both-once ()
  (hiera-test-open)
  (goto-char (point-min))
  (search-forward "profile::web::firewall")
  (backward-char)
  (let ((shown (hiera-test-wait
                "a hover of both"
                (lambda ()
                  (let ((answer (lsp-request "textDocument/hover" (lsp--text-document-position-params))))
                    (when answer
                      (let ((text (hiera-test-text answer)))
                        (and (string-match-p "from the schema" text)
                             (string-match-p "merged as hash from 2 levels" text)
                             text))))))))
    (dolist (part '("from the schema" "merged as hash from 2 levels"))
      (should (equal 2 (length (split-string shown part)))))))

(ert-deftest hiera-3-problems-of-each-once ()
  (hiera-test-open)
  (should-not (hiera-test-problems))
  (goto-char (point-max))
  (insert "twice: 1\ntwice: 2\n")
  (let ((last (1- (line-number-at-pos))))
    (lsp--flush-delayed-changes)
    (hiera-test-wait "both to find the second key"
                     (lambda () (equal (hiera-test-problems) `(("YAML" ,last) ("hiera-ls" ,last)))))))

(ert-deftest hiera-4-a-fix-is-offered-once ()
  (hiera-test-open)
  (goto-char (point-max))
  (insert "profile::web::mode: 0644\n")
  (lsp--flush-delayed-changes)
  (forward-line -1)
  (search-forward "06")
  (let* ((offered (hiera-test-wait
                   "the fix"
                   (lambda ()
                     (let ((actions (append (lsp-code-actions-at-point) nil)))
                       (and (seq-find (lambda (action) (equal "Quote it" (lsp:code-action-title action))) actions)
                            actions)))))
         (titles (mapcar #'lsp:code-action-title offered)))
    (should (equal titles (delete-dups (copy-sequence titles))))
    (lsp-execute-code-action
     (seq-find (lambda (action) (equal "Quote it" (lsp:code-action-title action))) offered)))
  (goto-char (point-min))
  (should (search-forward "profile::web::mode: \"0644\"" nil t))
  (set-buffer-modified-p nil))

(ert-run-tests-batch-and-exit)
