import { z } from 'zod';
import { nearestName } from './nearest.ts';

/** Nobody reads more of them, and a body can have a million. */
const MOST_NAMED = 20;
/** So much of a client's own key stands in a text. */
const LONGEST_SHOWN = 64;

/**
 * What is said of the keys that an object schema does not know, in an error map: each with the nearest known one, the last of the
 * others with all that are known. Undefined for another fault.
 * @param advice for keys that are not ours and well known elsewhere
 */
export function unknownFields(
  issue: z.core.$ZodRawIssue,
  advice: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  const hints = issue.keys.slice(0, MOST_NAMED).map((key) => ({ key, hint: hintFor(key, known, advice) }));
  const last = hints.findLast(({ hint }) => hint === '');
  if (last !== undefined) last.hint = expected(known);
  return hints.map(({ key, hint }) => `unknown field \`${shown(key)}\`${hint}`).join('; ');
}

/** An object with these fields and no other; `advice` as for {@link unknownFields}. */
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
  return key.length > LONGEST_SHOWN ? `${key.slice(0, LONGEST_SHOWN)}…` : key;
}
