" Explanations, differences and the like of the Hiera language server.
if exists('b:current_syntax')
  finish
endif

syntax match hieraReportString /"\%([^"\\]\|\\.\)*"/
syntax match hieraReportNumber /\%([[:alnum:]._:\/-]\)\@1<!-\?\d\+\%(\.\d\+\)\?\%([[:alnum:]._:\/-]\)\@!/
syntax match hieraReportPlace /[[:alnum:].@+_\/-]\+\.\%(e\?ya\?ml\|json\|conf\):\d\+/
syntax keyword hieraReportConstant true false undef null
syntax match hieraReportSearch /^\s*\zsSearching for\ze "/
syntax match hieraReportFound /^\s*\zsFound key:\ze "\|^\s*\zsMerged result:/
syntax match hieraReportNot /^\s*\zs\%(No such key: ".*\|Path not found\|Original path: ".*\)$/
syntax match hieraReportComment /^\s*#.*$/
syntax match hieraReportError /^Error: .*$/
syntax match hieraReportKey /^[a-z_:][[:alnum:]_:.-]*::[[:alnum:]_:.-]\+/
syntax match hieraReportBefore /^\s\+\zs-\ze /
syntax match hieraReportAfter /^\s\+\zs+\ze /

highlight default link hieraReportString String
highlight default link hieraReportNumber Number
highlight default link hieraReportConstant Constant
highlight default link hieraReportPlace Comment
highlight default link hieraReportSearch Title
highlight default link hieraReportFound Added
highlight default link hieraReportNot Comment
highlight default link hieraReportComment Comment
highlight default link hieraReportError Error
highlight default link hieraReportKey Identifier
highlight default link hieraReportBefore Removed
highlight default link hieraReportAfter Added

let b:current_syntax = 'hiera_report'
