;;; The editor of the pictures: as little as a person would have. Run by docs/images/make.  -*- lexical-binding: t -*-

;; -Q leaves out Debian's site files, which would find these.
;; What Emacs compiles in a new home is not what the picture is about.
(setq native-comp-async-report-warnings-errors nil)
(dolist (folder (directory-files "/usr/share/emacs/site-lisp/elpa" t
                                 "\\(eglot\\|flymake\\|jsonrpc\\|project\\|xref\\|eldoc\\|seq\\|external-completion\\|yaml-mode\\)-[0-9]"))
  (add-to-list 'load-path folder))
(require 'yaml-mode)
(setq inhibit-startup-screen t eglot-confirm-server-initiated-edits nil eldoc-echo-area-use-multiline-p 1
      make-backup-files nil initial-scratch-message nil suggest-key-bindings nil)
(menu-bar-mode -1)
(load (getenv "CONFIGURATION") nil t)
