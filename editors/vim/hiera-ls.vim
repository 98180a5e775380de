" Hiera data in Vim, with ALE. Source this file in your vimrc, after ALE is loaded.

augroup hiera_ls
  autocmd!
  autocmd BufRead,BufNewFile *.eyaml setfiletype yaml
augroup END

" What the root of a control repository, or of a module with data, has.
let s:markers = ['hiera.yaml', '.hiera-ls.yaml', 'environment.conf', 'Puppetfile', 'manifests/site.pp']

" The outermost folder at or above the buffer's file that has a marker, within the repository: modules
" have a hiera.yaml of their own, below that of the control repository. Empty, and so no server,
" outside of any.
function! HieraLsRoot(buffer) abort
  let l:folder = fnamemodify(expand('#' . a:buffer), ':p:h')
  let l:root = ''
  while 1
    for l:marker in s:markers
      if filereadable(l:folder . '/' . l:marker)
        let l:root = l:folder
      endif
    endfor
    let l:above = fnamemodify(l:folder, ':h')
    if l:above ==# l:folder || isdirectory(l:folder . '/.git') || filereadable(l:folder . '/.git')
      return l:root
    endif
    let l:folder = l:above
  endwhile
endfunction

for s:type in ['yaml', 'json', 'puppet']
  call ale#linter#Define(s:type, {
    \ 'name': 'hiera-ls',
    \ 'lsp': 'stdio',
    \ 'executable': 'hiera-ls',
    \ 'command': '%e --stdio',
    \ 'project_root': function('HieraLsRoot'),
    \ })
endfor

" ALE runs only linters that it is told of; those that it would run anyway stay.
let g:ale_linters = get(g:, 'ale_linters', {})
for [s:type, s:usual] in [
  \ ['yaml', ['spectral', 'yaml-language-server', 'yamllint']],
  \ ['json', ['jsonlint', 'spectral', 'vscodejson']],
  \ ['puppet', ['languageserver', 'puppet', 'puppetlint']],
  \ ]
  let g:ale_linters[s:type] = get(g:ale_linters, s:type, s:usual)
  if index(g:ale_linters[s:type], 'hiera-ls') < 0
    call add(g:ale_linters[s:type], 'hiera-ls')
  endif
endfor

" Lets the user complete the command that imports nodes, and runs it in a terminal.
function! s:OfferImport(response) abort
  let l:result = get(a:response, 'result', 0)
  if type(l:result) != v:t_dict
    return
  endif
  let l:line = input('Import nodes: ', get(l:result, 'import', ''))
  if !empty(l:line)
    call term_start([&shell, &shellcmdflag, l:line], {'term_name': 'hiera-ls nodes import'})
  endif
endfunction

function! s:ImportNodes() abort
  let l:place = {'uri': ale#util#ToURI(expand('%:p')), 'position': {'line': line('.') - 1, 'character': 0}}
  let l:command = {'command': 'hiera.recipes', 'arguments': [l:place]}
  call ale#lsp_linter#SendRequest(bufnr(''), 'hiera-ls', [0, 'workspace/executeCommand', l:command], function('s:OfferImport'))
endfunction

command! HieraLsImportNodes call s:ImportNodes()
