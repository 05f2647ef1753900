/**
 * A new id in the form of a UUID v4. Its first 48 bits are the time, so that ids made one after the other lie side by
 * side in an index, and a commit writes few of the index's pages. The other 74 bits are random.
 * @param random a new UUID v4
 * @param now milliseconds since the epoch
 */
export function orderedId(random: string, now: number): string {
  const time = Math.trunc(now).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-${random.slice(14)}`;
}
