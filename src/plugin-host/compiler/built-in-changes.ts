import type { SourcePositions } from './source-positions.ts';

/** The bundler writes the file before each module of a bundle. */
const MODULE = /^ {2}\/\/ (\S.*)$/;
/** A statement of the module itself, and whether it is a block: what that does is done while the module is loaded. */
const STATEMENT = /^ {2}(?! )((?:if|for|while|do|switch|try|\}|\{).*\{$)?/;
/** Within a function or a block: what stands further out is done while the module is loaded, and holds. */
const CHANGE =
  /^ {4,}(?:.*[\s;({])?((?:(?:Array|BigInt|Boolean|Date|Error|Function|Map|Number|Object|Promise|Set|String|Symbol)\.prototype|Array|Date|JSON|Math|Number|Object|Promise|Reflect)\.[A-Za-z_$][\w$]*) = /;
const STRICT = '(() => {"use strict";';
const MOST = 8;

/** An assignment to what is frozen by then. */
export interface BuiltInChange {
  /** What is assigned: `Array.prototype.last`. */
  target: string;
  /** File, line and column of its author. */
  place: string;
}

/**
 * Assignments in the author's own functions to built-ins, in a bundle that is not strict because of a package: nothing
 * happens there when they are made. In a strict one each throws.
 */
export function builtInChanges(code: string, filename: string, positions: SourcePositions): BuiltInChange[] {
  if (code.slice(0, 1000).includes(STRICT)) return [];
  const found: BuiltInChange[] = [];
  let isAuthors = false;
  let isAtLoad = false;
  let number = 0;
  for (const line of code.split('\n')) {
    number += 1;
    const module = MODULE.exec(line)?.[1];
    if (module !== undefined) isAuthors = !module.includes('node_modules/');
    const statement = STATEMENT.exec(line);
    if (statement !== null) isAtLoad = statement[1] !== undefined;
    const target = isAuthors && !isAtLoad && line.length < 1000 ? CHANGE.exec(line)?.[1] : undefined;
    if (target === undefined) continue;
    const frame = positions.mapped(`    at ${filename}:${number}:${line.indexOf(target) + 1}`);
    found.push({ target, place: frame.trim().replace(/^at /, '') });
    if (found.length === MOST) break;
  }
  return found;
}
