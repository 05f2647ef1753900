import { AddressLookupTableAccount, PublicKey, type TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import { type CompiledMessage, compileMessage, publicKeyOf, toMessageV0 } from './compiled-message.ts';
import { durableNonceOf } from './durable-nonce.ts';

/** How a message is to differ. */
export interface MessageRecomposition {
  payer: string;
  blockhash: string;
  /** These come first. Only the advance of a durable nonce stays before them: elsewhere it has no effect. */
  before: readonly TransactionInstruction[];
  /** These come last. */
  after?: readonly TransactionInstruction[];
  /** The accounts that the message's lookup tables name, in their order. */
  lookedUp: readonly string[];
}

/**
 * Rebuilds a message for another payer, with further instructions. Its accounts keep their rights. An account that no
 * instruction names is left out. What came from a lookup table still does, if it need not sign and is not called;
 * nothing else does. So the account of a durable nonce stays where the runtime looks for it.
 */
export function recomposeMessage(
  message: CompiledMessage,
  { payer, blockhash, before, after = [], lookedUp }: MessageRecomposition,
): CompiledMessage {
  const writable = message.lookups.reduce((sum, lookup) => sum + lookup.writable.length, 0);
  const keys = lookedUp.map(publicKeyOf);
  const { instructions } = TransactionMessage.decompile(toMessageV0(message), {
    accountKeysFromLookups: { writable: keys.slice(0, writable), readonly: keys.slice(writable) },
  });
  const start = durableNonceOf(message) === undefined ? 0 : 1;
  const all = [...instructions.slice(0, start), ...before, ...instructions.slice(start), ...after];
  return compileMessage(message.version, { payer, blockhash, instructions: all }, tablesOf(message, keys));
}

/** No account of a message: nobody has a key for it, and no program derives it. */
const NOBODY = new PublicKey(Buffer.alloc(32, 0xff));

/** The message's lookup tables with only those entries that it takes. */
function tablesOf({ lookups }: CompiledMessage, lookedUp: readonly PublicKey[]): AddressLookupTableAccount[] {
  const taken = [true, false].flatMap((isWritable) =>
    lookups.flatMap(({ table, writable, readonly }) =>
      (isWritable ? writable : readonly).map((index) => ({ table, index })),
    ),
  );
  return [...new Set(lookups.map(({ table }) => table))].map((table) => {
    const addresses: PublicKey[] = [];
    for (const [place, { table: of, index }] of taken.entries()) {
      if (of === table) addresses[index] = lookedUp[place] ?? NOBODY;
    }
    for (let index = 0; index < addresses.length; index += 1) addresses[index] ??= NOBODY;
    const state = { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses };
    return new AddressLookupTableAccount({ key: publicKeyOf(table), state });
  });
}
