import { RUN_PLUGIN } from '../../language-names.ts';

/** The last line of a bundle whose entry is an ES module. It names the object that holds the exports. */
const EXPORTS = /return __toCommonJS\((\w+)\);\s*\}\)\(\);\s*$/;

/** Whether a bundle without a `handler` has the reference's old form, which runs all the same: `runPlugin(main)`. */
export function isOldForm(code: string): boolean {
  return code.includes(RUN_PLUGIN);
}

/**
 * The exports of a bundle that certainly has no `handler` among them, for instance because its source was cut off.
 * Undefined for every other bundle: when only a run could tell, `handler` counts as exported.
 */
export function exportedInstead(code: string): string[] | undefined {
  const name = EXPORTS.exec(code)?.[1];
  // The entry is CommonJS, or re-exports it: its exports may be anything.
  if (name === undefined || code.includes(`__reExport(${name},`)) return /\bhandler\b/.test(code) ? undefined : [];
  const from = code.indexOf(`__export(${name}, {`);
  const listed = from === -1 ? '' : code.slice(from, code.indexOf('});', from));
  const names = [...listed.matchAll(/[\s{]"?([\w$]+)"?: \(\) =>/g)].map(([, one = '']) => one);
  return names.includes('handler') ? undefined : names;
}
