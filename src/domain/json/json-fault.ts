/**
 * One token of RFC 8259, or any single character that is none. Numbers and literals run on to the next delimiter, so
 * that `01` and `nul` are one wrong token each.
 */
const TOKEN =
  /([ \t\n\r]*)(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|([^ \t\n\r{}[\],:"]+)|([^]?))/y;
const SCALAR = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

type Expected =
  | 'a value'
  | 'a value or "]"'
  | 'a key in double quotes or "}"'
  | 'a key in double quotes'
  | '":"'
  | '"," or "}"'
  | '"," or "]"'
  | 'nothing more';

/**
 * Says where and how a text that `JSON.parse` refuses stops being JSON: `expected "," or "}" at line 3 column 5`.
 * `JSON.parse` itself names no position for some faults and quotes the text for others, which may hold a secret.
 */
export function findJsonFault(text: string): string {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'a value';
  const token = new RegExp(TOKEN);
  for (;;) {
    const [whole = '', space = '', mark, string, word, other] = token.exec(text) ?? [];
    const at = token.lastIndex - whole.length + space.length;
    if (at >= text.length) return `the text ends, expected ${expected} at ${place(text, at)}`;
    if (other === '"') return `the string is not closed or holds what must be escaped at ${place(text, at)}`;
    const next = step(expected, open, string === undefined ? (mark ?? word) : '"');
    if (next === undefined) return `expected ${expected} at ${place(text, at)}`;
    expected = next;
  }
}

/** What may follow the token, or undefined when the token itself is wrong; `"` stands for a string. */
function step(expected: Expected, open: ('{' | '[')[], token: string | undefined): Expected | undefined {
  const closes = (mark: '}' | ']') => token === mark && expected.includes(`"${mark}"`);
  if (closes('}') || closes(']')) {
    open.pop();
    return afterValue(open);
  }
  switch (expected) {
    case 'a value':
    case 'a value or "]"':
      if (token === '{') return push(open, '{', 'a key in double quotes or "}"');
      if (token === '[') return push(open, '[', 'a value or "]"');
      return token === '"' || (token !== undefined && SCALAR.test(token)) ? afterValue(open) : undefined;
    case 'a key in double quotes':
    case 'a key in double quotes or "}"':
      return token === '"' ? '":"' : undefined;
    case '":"':
      return token === ':' ? 'a value' : undefined;
    case '"," or "}"':
      return token === ',' ? 'a key in double quotes' : undefined;
    case '"," or "]"':
      return token === ',' ? 'a value' : undefined;
    case 'nothing more':
      return undefined;
  }
}

function push(open: ('{' | '[')[], mark: '{' | '[', expected: Expected): Expected {
  open.push(mark);
  return expected;
}

function afterValue(open: readonly ('{' | '[')[]): Expected {
  const innermost = open.at(-1);
  if (innermost === undefined) return 'nothing more';
  return innermost === '{' ? '"," or "}"' : '"," or "]"';
}

function place(text: string, at: number): string {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `line ${line} column ${at - start + 1}`;
}
