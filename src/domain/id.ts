import { z } from 'zod';

/** Ids of relayers, signers and notifications: 1 to 36 letters, digits, dashes and underscores. */
export const idSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,36}$/,
    'ID must contain only letters, numbers, dashes and underscores and must be at most 36 characters long',
  );

/** Ids of plugins: the name of a file or folder, or any text of an entry; kept printable and short for labels. */
export const pluginIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/,
    'a plugin id has 1 to 128 letters, digits, dots, dashes, underscores and @, and begins with a letter or digit',
  );

/**
 * A new id in the form of a UUID v4. Its first 48 bits are the time, so that ids made one after the other lie side by
 * side in an index, and a commit writes few of the index's pages. The other 74 bits are random.
 * @param random a new UUID v4
 * @param now milliseconds since the epoch
 */
export function orderedId(random: string, now: number): string {
  const time = Math.trunc(now);
  if (time !== latest.time) latest = { time, text: timeText(time) };
  return `${latest.text}${random.slice(14)}`;
}

/** The time of the latest id, which many ids share. */
let latest = { time: Number.NaN, text: '' };

function timeText(time: number): string {
  // In two parts: V8 writes numbers of up to 31 bits much faster.
  return `${hex(Math.floor(time / 0x1_0000), 8)}-${hex(time % 0x1_0000, 4)}-`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
