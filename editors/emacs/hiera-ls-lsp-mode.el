;;; hiera-ls-lsp-mode.el --- Hiera data in Emacs, with lsp-mode  -*- lexical-binding: t -*-

;;; Commentary:

;; Needs lsp-mode and yaml-mode or yaml-ts-mode. The server runs beside others for the same files, such as
;; yaml-language-server. With eglot, which has one server for a buffer, take hiera-ls.el.
;; Put (load "/path/to/hiera-ls/editors/emacs/hiera-ls-lsp-mode.el") into your init file, and start it with M-x lsp.

;;; Code:

(require 'lsp-mode)

(add-to-list 'auto-mode-alist '("\\.eyaml\\'" . yaml-mode))

(lsp-register-client
 (make-lsp-client :new-connection (lsp-stdio-connection '("hiera-ls" "--stdio"))
                  :major-modes '(yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode puppet-mode puppet-ts-mode)
                  :add-on? t
                  :server-id 'hiera-ls))

(provide 'hiera-ls-lsp-mode)
;;; hiera-ls-lsp-mode.el ends here
