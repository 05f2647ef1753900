/** The last line of a bundle whose entry is an ES module names what holds its exports. */
const EXPORTS = /return __toCommonJS\((\w+)\);\s*\}\)\(\);\s*$/;

/**
 * What a bundle exports that certainly exports no `handler`: one of a source that was cut off before it, for instance.
 * Undefined for any other: what can only be known by running it counts as exported.
 */
export function exportedInstead(code: string): string[] | undefined {
  const name = EXPORTS.exec(code)?.[1];
  // CommonJS, or a re-export of it: anything may be among its exports.
  if (name === undefined || code.includes(`__reExport(${name},`)) return /\bhandler\b/.test(code) ? undefined : [];
  const from = code.indexOf(`__export(${name}, {`);
  const listed = from === -1 ? '' : code.slice(from, code.indexOf('});', from));
  const names = [...listed.matchAll(/[\s{]"?([\w$]+)"?: \(\) =>/g)].map(([, one = '']) => one);
  return names.includes('handler') ? undefined : names;
}
