/** What may stand before a directive (ECMA-262 11.2.1). */
const BEFORE = /^(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/|#![^\n]*|\uFEFF)*/;
const DIRECTIVE = /^(?:"use strict"|'use strict')/;

/** How the bundler's scripts begin. */
const START = Buffer.from('(() => {\n');
const MARK = Buffer.from('"use strict";');
/** The start lies within this many bytes. */
const LOOKED_AT = 1000;

/** Whether a file of code says that it is strict. Modules always are (ECMA-262 11.2.2), and need not say so. */
export function isStrict(text: string): boolean {
  return DIRECTIVE.test(text.slice(BEFORE.exec(text)?.[0].length));
}

/**
 * The script as strict code, with all lines where they were. The bundler writes strict modules into a script that is
 * not strict. There, an assignment to a frozen object would do nothing, without an error.
 */
export function strict(code: Uint8Array): Uint8Array {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.byteLength);
  const at = bytes.subarray(0, LOOKED_AT).indexOf(START);
  if (at === -1) return code;
  const from = at + START.length - 1;
  return Buffer.concat([bytes.subarray(0, from), MARK, bytes.subarray(from)]);
}
