/** What a word is in data: a whole key, so that a double click selects `profile::web::port`. */

/** Runs of what stands in keys, facts and paths, joined by `::`; the colon behind a key is none of it. */
export const WORD =
  /(?:::)?[^\s"'`{}[\](),:;#%&*!|<>=?@$^~]+(?:::[^\s"'`{}[\](),:;#%&*!|<>=?@$^~]*)*/;
