" The configuration of docs/editors.md for ALE, in a real Vim, on a copy of fixtures/acme.
" Run by tests/editors/run: vim -Nu NONE -es -S test.vim
" In the environment: WORKSPACE, CONFIGURATION, RESULT (the file that the results go to); hiera-ls is on PATH.

set hidden
filetype plugin on
let g:ale_lint_delay = 0
packadd! ale
runtime! plugin/ale.vim
execute 'source' fnameescape($CONFIGURATION)

let s:passed = 0
let s:failed = 0

function! s:Say(line) abort
  call writefile([a:line], $RESULT, 'a')
endfunction

function! s:Finish() abort
  call s:Say(s:passed . ' passed, ' . s:failed . ' failed')
  execute s:failed ? 'cquit!' : 'qall!'
endfunction

" Waits for a condition at most half a minute, and counts it as a test.
function! s:Test(name, Condition) abort
  let l:began = reltime()
  while reltimefloat(reltime(l:began)) < 30
    if a:Condition()
      let s:passed += 1
      call s:Say('ok   ' . a:name)
      return 1
    endif
    sleep 20m
  endwhile
  let s:failed += 1
  call s:Say('FAIL ' . a:name)
  return 0
endfunction

function! s:Open(path) abort
  execute 'edit' fnameescape($WORKSPACE . '/' . a:path)
  call ale#Queue(0, 'lint_file')
endfunction

function! s:Problems() abort
  return join(map(copy(ale#engine#GetLoclist(bufnr(''))), {_, item -> item.text}), "\n")
endfunction

" What ALEHover has shown, in whichever preview window it is.
function! s:Shown() abort
  let l:previews = filter(range(1, winnr('$')), {_, window -> getwinvar(window, '&previewwindow')})
  return join(map(l:previews, {_, window -> join(getbufline(winbufnr(window), 1, '$'), "\n")}), "\n")
endfunction

" What the hover at a place of the table has, its blanks as one; empty until it has everything.
function! s:PlaceShows(place) abort
  call cursor(1, 1)
  call search('\V' . a:place.line, 'c')
  call cursor(0, 1)
  call search('\V' . a:place.at, 'c', line('.'))
  ALEHover
  sleep 100m
  let l:shown = substitute(s:Shown(), '\_s\+', ' ', 'g')
  for l:part in a:place.shows
    if stridx(l:shown, l:part) < 0
      return 0
    endif
  endfor
  for l:part in get(a:place, 'never', [])
    if stridx(l:shown, l:part) >= 0
      return 0
    endif
  endfor
  return 1
endfunction

function! s:HoverShows(text, part) abort
  call cursor(1, 1)
  call search('\V' . a:text)
  ALEHover
  sleep 100m
  return stridx(s:Shown(), a:part) >= 0
endfunction

let g:ale_hover_to_preview = 1
set balloonexpr=

call s:Open('mistakes/values/data/families/loops.yaml')
if !s:Test('attaches and shows problems', {-> s:Problems() =~# 'lookup loop: loop::a'})
  " Nothing can work without a server: no reason to wait for each test's time to run out.
  call s:Finish()
endif
call s:Open('data/role/web.yaml')
call s:Test('hover shows the merged value', {-> s:HoverShows('profile::web::firewall', 'merged as hash from 2 levels')})
call s:Test('hover shows where it comes from', {-> s:HoverShows('profile::web::firewall', 'common.yaml:102')})
" The same table is asked in every editor.
for s:place in json_decode(join(readfile(expand('<sfile>:p:h') . '/../places.json'), ' '))
  call s:Open(s:place.file)
  call s:Test('at ' . s:place.what, {-> s:PlaceShows(s:place)})
endfor
call s:Open('data/role/web.yaml')
call cursor(1, 1)
call search('\Vprofile::web::firewall')
call append('.', '  canary: {port: 8443}')
call ale#Queue(0)
call s:Test('an edit changes a hover before it is saved', {-> s:HoverShows('profile::web::firewall', 'canary')})

" Whether a text is in a file as Vim has it: in its buffer, else on the disk.
function! s:Has(path, text) abort
  let l:file = $WORKSPACE . '/' . a:path
  let l:lines = bufloaded(l:file) ? getbufline(bufnr(l:file), 1, '$') : readfile(l:file)
  return stridx(join(l:lines, "\n"), a:text) >= 0
endfunction

function! s:IsRenamed() abort
  return s:Has('data/common.yaml', "\nprofile::web::processes:") && s:Has('site-modules/profile/manifests/web.pp', '$processes')
endfunction

call s:Open('data/common.yaml')
call cursor(1, 1)
call search('\V\^profile::web::workers')
call feedkeys("\<C-U>profile::web::processes\<CR>", 't')
ALERename
call s:Test('a parameter is renamed in data and in code', function('s:IsRenamed'))

function! s:Terminals() abort
  return join(map(term_list(), {_, buffer -> join(getbufline(buffer, 1, '$'), '')}), "\n")
endfunction

" The command is completed with a flag that only tells about itself.
call feedkeys(" --help\<CR>", 't')
HieraLsImportNodes
call s:Test('the command that imports nodes is offered, and runs in a terminal', {-> s:Terminals() =~# 'Usage: hiera-ls nodes import'})
call s:Finish()
