import type { Caller } from '../../api-keys/records/caller.ts';
import type { Relayer } from './relayer.ts';

/**
 * The relayers that use something to be deleted, as far as its caller may know them: how many, and the names of those
 * that the caller sees.
 */
export function visibleRelayerUsers(
  users: readonly Pick<Relayer, 'id'>[],
  { access }: Caller,
): { count: string; relayers: string } {
  const seen = users.map(({ id }) => id).filter((id) => access?.sees('relayers', id) ?? true);
  const hidden = users.length - seen.length;
  const names = [...seen, ...(hidden === 0 ? [] : [`${hidden} that this key does not see`])];
  return { count: String(users.length), relayers: names.join(', ') };
}
