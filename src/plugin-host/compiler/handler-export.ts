/** The last line of a bundle whose entry is an ES module names what holds its exports. */
const EXPORTS = /return __toCommonJS\((\w+)\);\s*\}\)\(\);\s*$/;

/**
 * Whether a bundle certainly exports no `handler`: true of a source that was cut off before it, for instance. What
 * can only be known by running it counts as exported.
 */
export function lacksHandler(code: string): boolean {
  if (!/\bhandler\b/.test(code)) return true;
  const name = EXPORTS.exec(code)?.[1];
  // CommonJS, or a re-export of it: anything may be among its exports.
  if (name === undefined || code.includes(`__reExport(${name},`)) return false;
  const from = code.indexOf(`__export(${name}, {`);
  const listed = from === -1 ? '' : code.slice(from, code.indexOf('});', from));
  return !/[\s{]"?handler"?: \(\) =>/.test(listed);
}
