import { charCodeAt } from './intrinsics/primordials.ts';

const STAR = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const CARET = 0x5e;
const BACKSLASH = 0x5c;
const DASH = 0x2d;

/** The length of the literal beginning of a pattern. Every matching key begins with these characters. */
export function literalLength(pattern: string): number {
  let at = 0;
  for (; at < pattern.length; at++) {
    const code = charCodeAt(pattern, at);
    if (code === STAR || code === QUESTION || code === OPEN || code === BACKSLASH) break;
  }
  return at;
}

/**
 * Whether a key matches a glob pattern in Redis's syntax: `*`, `?`, `[abc]`, `[a-z]`, `[^a]`, and `\` before a
 * character that stands for itself. An unclosed set ends with the pattern. After a mismatch only the last `*` is tried
 * again, so matching takes at most key length times pattern length steps.
 */
export function matchesPattern(key: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let starAt = 0;
  while (at < key.length) {
    if (inPattern < pattern.length && charCodeAt(pattern, inPattern) === STAR) {
      star = inPattern++;
      starAt = at;
      continue;
    }
    const next = inPattern < pattern.length ? afterOne(charCodeAt(key, at), pattern, inPattern) : -1;
    if (next !== -1) {
      inPattern = next;
      at++;
    } else if (star === -1) {
      return false;
    } else {
      inPattern = star + 1;
      at = ++starAt;
    }
  }
  while (inPattern < pattern.length && charCodeAt(pattern, inPattern) === STAR) inPattern++;
  return inPattern === pattern.length;
}

/**
 * Matches one character against the piece of the pattern at `at`. Returns the index after the piece; -1 without a
 * match.
 */
function afterOne(code: number, pattern: string, at: number): number {
  const piece = charCodeAt(pattern, at);
  if (piece === QUESTION) return at + 1;
  if (piece === OPEN) return afterSet(code, pattern, at + 1);
  const isEscape = piece === BACKSLASH && at + 1 < pattern.length;
  const literal = isEscape ? at + 1 : at;
  return charCodeAt(pattern, literal) === code ? literal + 1 : -1;
}

function afterSet(code: number, pattern: string, begin: number): number {
  let at = begin;
  const isNegated = at < pattern.length && charCodeAt(pattern, at) === CARET;
  if (isNegated) at++;
  let isMember = false;
  for (; at < pattern.length && charCodeAt(pattern, at) !== CLOSE; at++) {
    if (charCodeAt(pattern, at) === BACKSLASH && at + 1 < pattern.length) at++;
    const from = charCodeAt(pattern, at);
    let to = from;
    if (at + 2 < pattern.length && charCodeAt(pattern, at + 1) === DASH) {
      at += 2;
      to = charCodeAt(pattern, at);
    }
    if ((code >= from && code <= to) || (code >= to && code <= from)) isMember = true;
  }
  if (isMember === isNegated) return -1;
  return at < pattern.length ? at + 1 : at;
}
