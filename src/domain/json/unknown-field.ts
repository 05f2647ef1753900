import { z } from 'zod';
import { nearestName } from './nearest.ts';

/** The most unknown fields that a message names; a body can have a million. */
const MAX_NAMED = 20;
/** The most characters of a client's key that a message shows. */
const MAX_SHOWN = 64;

/**
 * The message about keys that an object schema does not know, for an error map; undefined for another fault. It names
 * each key with the nearest known one. After the last key without a near one it lists all known keys.
 * @param advice for keys that are not ours and well known elsewhere
 */
export function unknownFields(
  issue: z.core.$ZodRawIssue,
  advice: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  const hints = issue.keys.slice(0, MAX_NAMED).map((key) => ({ key, hint: hintFor(key, known, advice) }));
  const last = hints.findLast(({ hint }) => hint === '');
  if (last !== undefined) last.hint = expected(known);
  return hints.map(({ key, hint }) => `unknown field \`${shown(key)}\`${hint}`).join('; ');
}

/** An object schema with these fields and no other; `advice` as for {@link unknownFields}. */
export function strictForm<Shape extends z.core.$ZodLooseShape>(shape: Shape, advice?: ReadonlyMap<string, string>) {
  return z.strictObject(shape, { error: (issue) => unknownFields(issue, advice) });
}

function hintFor(key: string, known: readonly string[], advice: ReadonlyMap<string, string>): string {
  const advised = advice.get(key);
  if (advised !== undefined) return `: ${advised}`;
  const nearest = nearestName(key, known);
  return nearest === undefined ? '' : `, did you mean \`${nearest}\`?`;
}

/** In the reference's words. */
function expected(known: readonly string[]): string {
  const names = known.map((one) => `\`${one}\``);
  if (names.length === 0) return '';
  return `, expected ${names.length <= 2 ? names.join(' or ') : `one of ${names.join(', ')}`}`;
}

function shown(key: string): string {
  return key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key;
}
