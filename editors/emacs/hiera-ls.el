;;; hiera-ls.el --- Hiera data in Emacs, with eglot  -*- lexical-binding: t -*-

;;; Commentary:

;; Needs eglot (part of Emacs 29; package `eglot' before) and yaml-mode or yaml-ts-mode.
;; Put (load "/path/to/hiera-ls/editors/emacs/hiera-ls.el") into your init file.

;;; Code:

(require 'eglot)

(add-to-list 'auto-mode-alist '("\\.eyaml\\'" . yaml-mode))

(add-to-list 'eglot-server-programs
             '((yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode puppet-mode puppet-ts-mode)
               . ("hiera-ls" "--stdio")))

(defconst hiera-ls-markers
  '("hiera.yaml" ".hiera-ls.yaml" "environment.conf" "Puppetfile" "manifests/site.pp")
  "What the root of a control repository, or of a module with data, has.")

(defun hiera-ls-has-marker (folder)
  "Whether FOLDER has one of `hiera-ls-markers'."
  (seq-some (lambda (marker) (file-exists-p (expand-file-name marker folder))) hiera-ls-markers))

(defun hiera-ls-root (folder)
  "The outermost folder at or above FOLDER that has a marker, as a project.
Modules have a hiera.yaml of their own, below that of the control repository.
Nothing above the repository around FOLDER is looked at."
  (let* ((repository (locate-dominating-file folder ".git"))
         (above (and repository (file-name-directory (directory-file-name repository))))
         (at folder)
         root)
    (while (and (setq at (locate-dominating-file at #'hiera-ls-has-marker))
                (not (and above (file-in-directory-p above at))))
      (setq root at
            at (file-name-directory (directory-file-name at))))
    (and root (cons 'transient (expand-file-name root)))))

(add-hook 'project-find-functions #'hiera-ls-root)

(defun hiera-ls-ensure ()
  "Start the server for the buffer's file if it belongs to a control repository."
  (when (and buffer-file-name (hiera-ls-root default-directory))
    (eglot-ensure)))

(dolist (hook '(yaml-mode-hook yaml-ts-mode-hook puppet-mode-hook puppet-ts-mode-hook))
  (add-hook hook #'hiera-ls-ensure))

(defun hiera-ls-ask (command)
  "What the server answers to COMMAND about the buffer's file."
  (let ((server (or (eglot-current-server) (user-error "No server runs for this buffer")))
        (argument (if buffer-file-name
                      `(:uri ,(eglot--path-to-uri buffer-file-name))
                    (make-hash-table))))
    (jsonrpc-request server :workspace/executeCommand
                     `(:command ,command :arguments [,argument]))))

;;;###autoload
(defun hiera-ls-choose-hierarchy (hierarchy folder)
  "Answer by the configuration HIERARCHY, which serves FOLDER, in this buffer's project.
Both are paths; interactively the server's list of configurations is offered.
With a HIERARCHY of nil the server chooses again."
  (interactive
   (let* ((answer (hiera-ls-ask "hiera.hierarchies"))
          (known (mapcar (lambda (one)
                           (list (format "%s (version %d, %d files)"
                                         (file-relative-name (eglot--uri-to-path (plist-get one :uri)))
                                         (plist-get one :version) (plist-get one :files))
                                 (eglot--uri-to-path (plist-get one :uri))
                                 (eglot--uri-to-path (plist-get one :folder))))
                         (plist-get answer :hierarchies)))
          (chosen (completing-read "Answer by: " (cons "automatic" known) nil t)))
     (or (cdr (assoc chosen known)) (list nil nil))))
  (let ((roots (if hierarchy (vector (list :hierarchy hierarchy :folder folder)) []))
        (server (or (eglot-current-server) (user-error "No server runs for this buffer"))))
    (setq-default eglot-workspace-configuration `(:hiera-ls (:roots ,roots)))
    (eglot-signal-didChangeConfiguration server)))

;;;###autoload
(defun hiera-ls-doctor ()
  "Show what the server knows of the workspace, and what would improve its answers."
  (interactive)
  (let ((answer (hiera-ls-ask "hiera.doctor")))
    (with-current-buffer (get-buffer-create "*Hiera doctor*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (plist-get answer :content)))
      (goto-char (point-min))
      (special-mode)
      (display-buffer (current-buffer)))))

(provide 'hiera-ls)
;;; hiera-ls.el ends here
