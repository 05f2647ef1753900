import { NAMESPACES } from '../../../sandbox/language-names.ts';

/** esbuild's helper that makes the namespace object of an ES module. */
const OF_MODULE = 'var __export = (target, all) => {';
/** Its helper that makes the namespace object of a CommonJS module, and of a module of Node. */
const OF_COMMON = 'var __toESM = (mod, isNodeMode, target) => (';
const END = ');\n';
/** The helpers stand at the beginning. */
const LOOKED_AT = 8000;

/**
 * The bundle with namespace objects (`import * as …`) to which nothing can be added, as the language has them (ECMA-262
 * 10.4.6). The bundler makes ordinary objects, on which a call could leave something for the next. All lines stay where
 * they were. Those of ES modules are only noted: more is added to them until the module has run.
 */
export function withClosedNamespaces(code: Uint8Array): Uint8Array {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.byteLength);
  const head = bytes.subarray(0, LOOKED_AT).toString('latin1');
  let changed = head.replace(OF_MODULE, `${OF_MODULE} globalThis.${NAMESPACES}?.push(target);`);
  const at = changed.indexOf(OF_COMMON);
  const end = changed.indexOf(END, at);
  if (at !== -1 && end !== -1) {
    const from = at + OF_COMMON.length - 1;
    changed = `${changed.slice(0, from)}Object.freeze(${changed.slice(from, end)})${changed.slice(end)}`;
  }
  if (changed === head) return code;
  return Buffer.concat([Buffer.from(changed, 'latin1'), bytes.subarray(LOOKED_AT)]);
}
