;;; hiera-ls.el --- Hiera data in Emacs, with eglot  -*- lexical-binding: t -*-

;;; Commentary:

;; Needs eglot (part of Emacs 29; package `eglot' before) and yaml-mode or yaml-ts-mode.
;; Put (load "/path/to/hiera-ls/editors/emacs/hiera-ls.el") into your init file.

;;; Code:

(require 'ediff)
(require 'eglot)
(require 'seq)

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

(defconst hiera-ls-longest-answer 120
  "Seconds to wait for the answer to a command; \\[keyboard-quit] ends it.")

(defun hiera-ls-ask (command &rest more)
  "What the server answers to COMMAND about the place in the buffer; MORE of the argument are a plist."
  (let ((server (or (eglot-current-server) (user-error "No server runs for this buffer")))
        (argument (append (when buffer-file-name
                            (list :uri (eglot--path-to-uri buffer-file-name)
                                  :position (eglot--pos-to-lsp-position)))
                          more)))
    (jsonrpc-request server :workspace/executeCommand
                     `(:command ,command :arguments [,(or argument (make-hash-table))])
                     ;; A search for edits of many nodes takes longer than other requests.
                     :timeout hiera-ls-longest-answer)))

(defun hiera-ls-buffer (document)
  "A read-only buffer with a DOCUMENT of the server."
  (with-current-buffer (get-buffer-create (format "*%s*" (plist-get document :title)))
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (plist-get document :content)))
    (goto-char (point-min))
    (if (equal (plist-get document :language) "yaml")
        ;; Without its hook: a made text is no data file of the workspace.
        (let ((yaml-mode-hook nil)) (delay-mode-hooks (if (fboundp 'yaml-mode) (yaml-mode) (text-mode))))
      (special-mode))
    (setq buffer-read-only t)
    (current-buffer)))

(defun hiera-ls-show (answer)
  "Show ANSWER of the server: a document in a buffer, or a message."
  (cond ((plist-get answer :content) (display-buffer (hiera-ls-buffer answer)))
        ((plist-get answer :message) (message "Hiera: %s" (plist-get answer :message)))))

(defun hiera-ls-read-node (prompt &optional all)
  "Let the user choose a node with PROMPT; ALL is offered before them."
  (let* ((answer (hiera-ls-ask "hiera.nodes" :details t))
         (says (mapcar (lambda (choice)
                         (let ((parts (list (plist-get choice :environment) (plist-get choice :says))))
                           (cons (plist-get choice :node) (string-join (delq nil parts) " · "))))
                       (plist-get answer :choices)))
         (completion-extra-properties
          (list :annotation-function
                (lambda (name) (let ((more (cdr (assoc name says)))) (and more (concat "  " more)))))))
    (completing-read prompt (append all (plist-get answer :nodes) nil) nil t)))

;;;###autoload
(defun hiera-ls-select-node (node)
  "Show values for NODE from here on; nil or \"all\" for all nodes."
  (interactive (list (hiera-ls-read-node "Show values for: " '("all"))))
  (hiera-ls-ask "hiera.selectNode" :certname (unless (equal node "all") node)))

;;;###autoload
(defun hiera-ls-override-fact (path value)
  "Let answers be as if the fact at PATH had VALUE; interactively, nothing removes the override."
  (interactive
   (let* ((facts (seq-filter (lambda (fact) (eq (plist-get fact :settable) t))
                             (plist-get (hiera-ls-ask "hiera.facts") :facts)))
          (path (completing-read "Override the fact: " (mapcar (lambda (fact) (plist-get fact :path)) facts)))
          (fact (seq-find (lambda (fact) (equal (plist-get fact :path) path)) facts))
          (values (mapcar (lambda (count) (format "%s" (plist-get count :value))) (plist-get fact :values)))
          (typed (completing-read (format "Value of %s (leave empty to remove the override): " path) values)))
     (list path (cond ((equal typed "") nil)
                      ((ignore-errors (json-parse-string typed :object-type 'plist :false-object :json-false)))
                      (t typed)))))
  (hiera-ls-show (hiera-ls-ask "hiera.setFact" :path path :value value)))

;;;###autoload
(defun hiera-ls-clear-overrides ()
  "Remove all overrides of facts."
  (interactive)
  (hiera-ls-ask "hiera.clearFacts"))

;;;###autoload
(defun hiera-ls-compare-nodes (from to)
  "Compare what the nodes or environments FROM and TO get, with Ediff."
  (interactive (let ((from (hiera-ls-read-node "Compare: ")))
                 (list from (hiera-ls-read-node (format "Compare %s with: " from)))))
  (let* ((answer (hiera-ls-ask "hiera.diff" :from from :to to :sides t))
         (sides (plist-get answer :sides)))
    (if (= (length sides) 2)
        (ediff-buffers (hiera-ls-buffer (elt sides 0)) (hiera-ls-buffer (elt sides 1)))
      (hiera-ls-show answer))))

;;;###autoload
(defun hiera-ls-matrix ()
  "Show the values of the key at point on all nodes."
  (interactive)
  (hiera-ls-show (hiera-ls-ask "hiera.matrix")))

;;;###autoload
(defun hiera-ls-explain ()
  "Show how the value of the key at point comes about."
  (interactive)
  (hiera-ls-show (hiera-ls-ask "hiera.explain")))

;;;###autoload
(defun hiera-ls-uses ()
  "Show the uses of the key at point."
  (interactive)
  (hiera-ls-show (hiera-ls-ask "hiera.uses")))

;;;###autoload
(defun hiera-ls-impact ()
  "Show which values would change if the buffer were saved."
  (interactive)
  (hiera-ls-show (hiera-ls-ask "hiera.impact")))

;;;###autoload
(defun hiera-ls-upgrade (to &optional from)
  "Show what fails or changes with version TO of Puppet, and let hovers say it.
Without TO hovers say it no longer.  The version of today is FROM, with a prefix
argument asked for, else the configured one."
  (interactive
   (let ((number (lambda (prompt default)
                   (let ((text (read-string prompt default)))
                     (unless (string-empty-p text) (string-to-number text))))))
     (list (funcall number "Upgrade to (8 or 9; empty ends the preview): " "9")
           (and current-prefix-arg (funcall number "Upgrade from (7 or 8): " "7")))))
  (hiera-ls-show (hiera-ls-ask "hiera.upgrade" :to to :from from)))

(defun hiera-ls-read-value ()
  "Let the user type a value as YAML."
  (read-string "Value, as YAML: "))

;;;###autoload
(defun hiera-ls-set-value (yaml whose only)
  "Propose edits after which nodes get the value YAML for the key at point, and make one.
WHOSE are names of nodes or conditions such as \"role=web,db\", which must all hold;
nil means all nodes.  With ONLY all other nodes keep their values."
  (interactive
   (list (hiera-ls-read-value)
         (split-string (read-string "Nodes, such as role=web,db site=lon (empty for all): "))
         (y-or-n-p "Must every other node keep what it has? ")))
  (let* ((answer (hiera-ls-ask "hiera.setValue" :yaml yaml :for (vconcat whose) :only (if only t :json-false)))
         (proposals (mapcar (lambda (one)
                              (cons (format "%s: %s" (plist-get one :title) (plist-get one :proof)) one))
                            (plist-get answer :proposals))))
    (if (null proposals)
        (hiera-ls-show answer)
      (let* ((completion-ignore-case t)
             (chosen (completing-read "The smallest edit comes first: " proposals nil t nil nil (caar proposals)))
             (proposal (cdr (assoc chosen proposals)))
             (shown (hiera-ls-buffer (list :title "Edit" :content (plist-get proposal :diff)))))
        (display-buffer shown)
        (when (y-or-n-p "Make this edit? ")
          (eglot--apply-workspace-edit (plist-get proposal :edit) nil))
        (kill-buffer shown)))))

;;;###autoload
(defun hiera-ls-why-not (yaml node)
  "Show which levels are in the way of the value YAML of the key at point on NODE."
  (interactive (list (hiera-ls-read-value) (hiera-ls-read-node "Node: ")))
  (hiera-ls-show (hiera-ls-ask "hiera.whyNot" :yaml yaml :node node)))

;;;###autoload
(defun hiera-ls-choose-hierarchy (hierarchy folder)
  "Use the configuration HIERARCHY, which serves FOLDER, in this buffer's project.
Both are paths; interactively the server's list of configurations is offered.
With a HIERARCHY of nil the server chooses again."
  (interactive
   (let* ((answer (hiera-ls-ask "hiera.hierarchies"))
          (known (mapcar (lambda (one)
                           (list (format "%s (%s)"
                                         (file-relative-name (eglot--uri-to-path (plist-get one :uri)))
                                         (if (plist-get one :version)
                                             (format "version %d, %d files" (plist-get one :version)
                                                     (plist-get one :files))
                                           "Puppet refuses it"))
                                 (eglot--uri-to-path (plist-get one :uri))
                                 (eglot--uri-to-path (plist-get one :folder))))
                         (plist-get answer :hierarchies)))
          (chosen (completing-read "hiera.yaml to use: " (cons "automatic" known) nil t)))
     (or (cdr (assoc chosen known)) (list nil nil))))
  (let ((roots (if hierarchy (vector (list :hierarchy hierarchy :folder folder)) []))
        (server (or (eglot-current-server) (user-error "No server runs for this buffer"))))
    (setq-default eglot-workspace-configuration `(:hiera-ls (:roots ,roots)))
    (eglot-signal-didChangeConfiguration server)))

;;;###autoload
(defun hiera-ls-import-nodes (command)
  "Import nodes from PuppetDB: run COMMAND in a buffer for compilations."
  (interactive (list (read-shell-command "Import nodes: " (plist-get (hiera-ls-ask "hiera.recipes") :import))))
  (compile command))

;;;###autoload
(defun hiera-ls-doctor ()
  "Show what the server knows about the workspace, and what would improve its answers."
  (interactive)
  (hiera-ls-show (hiera-ls-ask "hiera.doctor")))

(provide 'hiera-ls)
;;; hiera-ls.el ends here
