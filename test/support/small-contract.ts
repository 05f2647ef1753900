import { concat, getBytes, hexlify, id, toBeHex } from 'ethers';

/** What a function of a contract does: answers a slot, notes its first word with the time, or always reverts. */
type Behaviour = { reads: number } | { notes: number; event?: string } | { reverts: true };

const push = (value: number | bigint, bytes = 1) => concat([toBeHex(0x5f + bytes), toBeHex(value, bytes)]);
const ops = (hex: string) => `0x${hex}`;

/**
 * The code of a contract, for `anvil_setCode`. `notes: n` stores the first argument in slot n and the block's time in
 * slot n + 1, and logs the argument under the event's topic.
 */
export function smallContract(functions: Readonly<Record<string, Behaviour>>): string {
  const entries = Object.entries(functions);
  const bodies = entries.map(([, behaviour]) => {
    // Stores the word on the stack in memory, and returns it.
    if ('reads' in behaviour)
      return concat([ops('5b'), push(behaviour.reads), ops('54'), ops('5f52'), push(32), ops('5ff3')]);
    if ('reverts' in behaviour) return ops('5b5f5ffd');
    const store = [
      push(4),
      ops('35'),
      ops('80'),
      push(behaviour.notes),
      ops('55'),
      ops('42'),
      push(behaviour.notes + 1),
      ops('55'),
    ];
    const log =
      behaviour.event === undefined ? [] : [ops('5f52'), push(BigInt(id(behaviour.event)), 32), push(32), ops('5fa1')];
    return concat([ops('5b'), ...store, ...log, ops('00')]);
  });
  const size = (hex: string) => getBytes(hex).length;
  const head = 6;
  // DUP1 PUSH4 EQ PUSH2 JUMPI
  const choice = 1 + 5 + 1 + 3 + 1;
  let at = head - 1 + choice * entries.length + 3;
  const choices = entries.map(([signature], index) => {
    const target = at;
    at += size(bodies[index] ?? '0x');
    return concat([ops('80'), push(BigInt(id(signature).slice(0, 10)), 4), ops('14'), push(target, 2), ops('57')]);
  });
  // The selector: CALLDATALOAD(0) >> 224.
  return hexlify(concat([ops('5f35'), push(224), ops('1c'), ...choices, ops('5f5ffd'), ...bodies]));
}
