import type { SourcePositions } from './source-positions.ts';

/** The comment with the file's path, which the bundler writes before each module of a bundle. */
const MODULE = /^ {2}\/\/ (\S.*)$/;
/**
 * A statement at the top level of a module. The group tells whether it is a block: a block runs while the module is
 * loaded.
 */
const STATEMENT = /^ {2}(?! )((?:if|for|while|do|switch|try|\}|\{).*\{$)?/;
/**
 * An assignment to a built-in within a function or a block. An assignment further out runs while the module is loaded,
 * and has effect.
 */
const CHANGE =
  /^ {4,}(?:.*[\s;({])?((?:(?:Array|BigInt|Boolean|Date|Error|Function|Map|Number|Object|Promise|Set|String|Symbol)\.prototype|Array|Date|JSON|Math|Number|Object|Promise|Reflect)\.[A-Za-z_$][\w$]*) = /;
const STRICT = '(() => {"use strict";';
const MAX = 8;

/** An assignment to a built-in that is frozen by then. */
export interface BuiltInChange {
  /** The target of the assignment, for instance `Array.prototype.last`. */
  target: string;
  /** File, line and column in the author's code. */
  place: string;
}

/**
 * Finds assignments to built-ins in the author's own functions, in a bundle that is not strict because of a package.
 * Such an assignment does nothing. In a strict bundle it throws.
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
    if (found.length === MAX) break;
  }
  return found;
}
