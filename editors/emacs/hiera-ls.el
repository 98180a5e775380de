;;; hiera-ls.el --- Hiera data in Emacs, with eglot  -*- lexical-binding: t -*-

;;; Commentary:

;; Needs eglot (part of Emacs 29; package `eglot' before) and yaml-mode or yaml-ts-mode.
;; Put (load "/path/to/hiera-ls/editors/emacs/hiera-ls.el") into your init file.

;;; Code:

(require 'eglot)

(add-to-list 'auto-mode-alist '("\\.eyaml\\'" . yaml-mode))

(add-to-list 'eglot-server-programs
             '((yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode) . ("hiera-ls" "--stdio")))

(defun hiera-ls-root (folder)
  "The outermost folder at or above FOLDER that has a hiera.yaml, as a project.
Modules have a hiera.yaml of their own, below that of the control repository."
  (let (root (at folder))
    (while (setq at (locate-dominating-file at "hiera.yaml"))
      (setq root at
            at (file-name-directory (directory-file-name at))))
    (and root (cons 'transient (expand-file-name root)))))

(add-hook 'project-find-functions #'hiera-ls-root)

(defun hiera-ls-ensure ()
  "Start the server for the buffer's file if it lies below a hiera.yaml."
  (when (and buffer-file-name (hiera-ls-root default-directory))
    (eglot-ensure)))

(dolist (hook '(yaml-mode-hook yaml-ts-mode-hook))
  (add-hook hook #'hiera-ls-ensure))

;;;###autoload
(defun hiera-ls-doctor ()
  "Show what the server knows of the workspace, and what would improve its answers."
  (interactive)
  (let* ((server (or (eglot-current-server) (user-error "No server runs for this buffer")))
         (answer (jsonrpc-request server :workspace/executeCommand
                                  `(:command "hiera.doctor"
                                    :arguments [,(make-hash-table)]))))
    (with-current-buffer (get-buffer-create "*Hiera doctor*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (plist-get answer :content)))
      (goto-char (point-min))
      (special-mode)
      (display-buffer (current-buffer)))))

(provide 'hiera-ls)
;;; hiera-ls.el ends here
