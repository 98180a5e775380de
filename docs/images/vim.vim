" The editor of the pictures: as little as a person would have. Run by docs/images/make.
set hidden number background=dark laststatus=2 shortmess+=F noswapfile nomodeline
filetype plugin on
syntax on
let g:ale_hover_to_preview = 1
set balloonexpr=
packadd! ale
runtime! plugin/ale.vim
execute 'source' fnameescape($CONFIGURATION)
