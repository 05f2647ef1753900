import { toBase58 } from './base58.ts';
import type { Landed } from './ledger.ts';
import { type Fields, numberIn, oneOf } from './params.ts';
import { CODES, RpcError } from './rpc-error.ts';
import type { WireInstruction, WireTransaction } from './wire-transaction.ts';

const ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const;

type Encoding = (typeof ENCODINGS)[number];

/** The form of transactions that a client asks for. */
export interface TransactionForm {
  encoding: Encoding;
  /** Null: legacy only, and the version is not told. */
  version: number | null;
}

/** @throws RpcError */
export function formIn(options: Fields): TransactionForm {
  return {
    encoding: oneOf(options['encoding'], ENCODINGS, 'encoding') ?? 'json',
    version: numberIn(options['maxSupportedTransactionVersion'], 'u8') ?? null,
  };
}

/**
 * A transaction of a block with its result.
 * @throws RpcError for a version that the client does not read
 */
export function transactionAnswer(landed: Landed, { encoding, version }: TransactionForm) {
  const own = landed.transaction.message.version;
  if (own !== 'legacy' && own > (version ?? -1)) {
    throw new RpcError(
      CODES.unsupportedVersion,
      `Transaction version (${own}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${own}`,
    );
  }
  return {
    transaction: encoded(landed, encoding),
    meta: metaOf(landed, encoding),
    ...(version === null ? {} : { version: own }),
  };
}

function encoded({ transaction, keys }: Landed, encoding: Encoding) {
  if (encoding === 'base64') return [Buffer.from(transaction.bytes).toString('base64'), encoding];
  if (encoding === 'base58') return [toBase58(transaction.bytes), encoding];
  const { message } = transaction;
  const signatures = transaction.signatures.map(toBase58);
  const lookups = message.lookups.map(({ table, writable, readonly }) => ({
    accountKey: table,
    writableIndexes: writable,
    readonlyIndexes: readonly,
  }));
  const { config } = message;
  const extra = {
    ...(message.version === 0 ? { addressTableLookups: lookups } : {}),
    ...(config === null ? {} : { transactionConfig: config }),
  };
  if (encoding === 'json') {
    const header = {
      numRequiredSignatures: message.signers,
      numReadonlySignedAccounts: message.readonlySigners,
      numReadonlyUnsignedAccounts: message.readonlyOthers,
    };
    const instructions = message.instructions.map(({ program, accounts, data }) => ({
      programIdIndex: program,
      accounts,
      data: toBase58(data),
      stackHeight: 1,
    }));
    const { blockhash: recentBlockhash, keys: accountKeys } = message;
    return { signatures, message: { header, accountKeys, recentBlockhash, instructions, ...extra } };
  }
  const accountKeys = keys.all.map((pubkey, index) => ({
    pubkey,
    signer: index < message.signers,
    writable: keys.writable[index] === true,
    source: index < message.keys.length ? 'transaction' : 'lookupTable',
  }));
  const instructions = message.instructions.map((instruction) => named(instruction, keys.all, 1));
  return { signatures, message: { accountKeys, recentBlockhash: message.blockhash, instructions, ...extra } };
}

/** The form of `jsonParsed` for programs that a node cannot parse; this one parses none. */
function named({ program, accounts, data }: WireInstruction, keys: readonly string[], stackHeight: number) {
  return {
    programId: keys[program],
    accounts: accounts.map((index) => keys[index]),
    data: toBase58(data),
    stackHeight,
  };
}

function metaOf({ outcome, keys, fee, before, after }: Landed, encoding: Encoding) {
  const { err, logs, inner, returnData, unitsConsumed } = outcome;
  const parsed = inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ programIdIndex, accounts, data, stackHeight }) => ({
      programId: keys.all[programIdIndex],
      accounts: accounts.map((place) => keys.all[place]),
      data,
      stackHeight,
    })),
  }));
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee,
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens,
    postTokenBalances: after.tokens,
    innerInstructions: encoding === 'jsonParsed' ? parsed : inner,
    logMessages: logs,
    loadedAddresses: keys.loaded,
    computeUnitsConsumed: unitsConsumed,
    ...(returnData === null ? {} : { returnData }),
    rewards: [],
  };
}

const MEMOS = ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];

/** As `getSignaturesForAddress` words memos: the length in bytes before each. */
export function memoOf({ message }: WireTransaction): string | null {
  const memos = message.instructions
    .filter(({ program }) => MEMOS.includes(String(message.keys[program])))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}
