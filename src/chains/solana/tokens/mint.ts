import { addressOfPublicKey } from '../address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../programs.ts';
import type { OnChainAccount } from '../rpc-calls.ts';
import { MULTISIG_SIZE, TOKEN_ACCOUNT_SIZE } from './token-account.ts';

/** The layout of a mint of the Token program (spl-token, `Mint`). */
const SIZE = 82;
const DECIMALS_AT = 44;
const INITIALIZED_AT = 45;
const KEY_LENGTH = 32;

/**
 * In Token-2022 extensions follow where a token account would end, after a byte that tells mints from token accounts.
 */
const KIND_AT = TOKEN_ACCOUNT_SIZE;
const KIND_MINT = 1;
const EXTENSIONS_AT = KIND_AT + 1;
const EXTENSION_HEADER = 4;

/** The extensions of mints that matter here, by their numbers (spl-token-2022, `ExtensionType`). */
export const MINT_EXTENSIONS = {
  transferFee: 1,
  mintCloseAuthority: 3,
  nonTransferable: 9,
  permanentDelegate: 12,
  transferHook: 14,
  metadata: 19,
  pausable: 26,
} as const;

/**
 * Offsets in TransferFeeConfig, after two authorities and the withheld amount: the fee before an epoch, and the fee
 * from it on.
 */
const FEES_AT = [72, 90] as const;
const MAX_IN_FEE = 8;
const BASIS_POINTS_IN_FEE = 16;

/**
 * What an extension of a mint adds to each account of that mint: bytes of content, without the header. An
 * extension of 0 bytes only marks the account.
 */
const ACCOUNT_EXTENSIONS: ReadonlyMap<number, number> = new Map([
  [MINT_EXTENSIONS.transferFee, 8],
  [MINT_EXTENSIONS.nonTransferable, 0],
  [MINT_EXTENSIONS.transferHook, 1],
  [MINT_EXTENSIONS.pausable, 0],
]);

/** What a token takes of each transfer: a part of the amount, up to a bound. */
export interface TransferFee {
  basisPoints: bigint;
  most: bigint;
}

/** A token. */
export interface Mint {
  address: string;
  /** Token, or Token-2022. */
  program: string;
  decimals: number;
  /** The fee before an epoch, and the fee from it on. Empty for most tokens. */
  fees: readonly TransferFee[];
  /** Whether each transfer calls a program of the token's own. */
  hasHook: boolean;
  /** Who may move and burn everybody's tokens; null where nobody may. */
  permanentDelegate: string | null;
  /** The size of an associated account of this token, in bytes. */
  accountSize: number;
  extensions: ReadonlyMap<number, Buffer>;
}

/** Reads a mint; undefined for any other account. */
export function readMint(address: string, account: OnChainAccount | null | undefined): Mint | undefined {
  if (account == null) return undefined;
  const { data, owner: program } = account;
  const isPlain = data.length === SIZE && (program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM);
  const isExtended = program === TOKEN_2022_PROGRAM && data[KIND_AT] === KIND_MINT && data.length !== MULTISIG_SIZE;
  if (!(isPlain || isExtended) || data[INITIALIZED_AT] !== 1) return undefined;
  const extensions = extensionsOf(data);
  return {
    address,
    program,
    decimals: data.readUInt8(DECIMALS_AT),
    fees: feesOf(extensions.get(MINT_EXTENSIONS.transferFee)),
    hasHook: keyIn(extensions.get(MINT_EXTENSIONS.transferHook), KEY_LENGTH) !== null,
    permanentDelegate: keyIn(extensions.get(MINT_EXTENSIONS.permanentDelegate), 0),
    accountSize: program === TOKEN_PROGRAM ? TOKEN_ACCOUNT_SIZE : extendedSize(extensions),
    extensions,
  };
}

/** How much of a transfer arrives. The epoch decides which of two fees applies. Here the higher fee is taken off. */
export function netAfterTransferFee({ fees }: Pick<Mint, 'fees'>, gross: bigint): bigint {
  const taken = fees.map((fee) => feeOn(fee, gross));
  return gross - taken.reduce((most, fee) => (fee > most ? fee : most), 0n);
}

/** The amount to send so that at least the net amount arrives. */
export function grossBeforeTransferFee(mint: Pick<Mint, 'fees'>, net: bigint): bigint {
  const grosses = mint.fees.map((fee) => grossUnder(fee, net));
  return grosses.reduce((most, gross) => (gross > most ? gross : most), net);
}

const WHOLE = 10_000n;

function feeOn({ basisPoints, most }: TransferFee, gross: bigint): bigint {
  const part = ceiling(gross * basisPoints, WHOLE);
  return part < most ? part : most;
}

function grossUnder(fee: TransferFee, net: bigint): bigint {
  const capped = net + fee.most;
  if (fee.basisPoints >= WHOLE) return capped;
  // The fee of this amount is rounded up, so it may take one unit too much.
  const open = ceiling(net * WHOLE, WHOLE - fee.basisPoints);
  const enough = open - feeOn(fee, open) >= net ? open : open + 1n;
  return enough < capped ? enough : capped;
}

function ceiling(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

/** The extensions by number. An empty entry ends them, and so does an entry that does not fit into the account. */
function extensionsOf(data: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = EXTENSIONS_AT; at + EXTENSION_HEADER <= data.length; ) {
    const number = data.readUInt16LE(at);
    const end = at + EXTENSION_HEADER + data.readUInt16LE(at + 2);
    if (number === 0 || end > data.length) break;
    found.set(number, data.subarray(at + EXTENSION_HEADER, end));
    at = end;
  }
  return found;
}

function feesOf(config: Buffer | undefined): TransferFee[] {
  if (config === undefined) return [];
  return FEES_AT.filter((at) => at + BASIS_POINTS_IN_FEE + 2 <= config.length).map((at) => ({
    most: config.readBigUInt64LE(at + MAX_IN_FEE),
    basisPoints: BigInt(config.readUInt16LE(at + BASIS_POINTS_IN_FEE)),
  }));
}

/** The key at a place of an extension: a hook's program comes after its authority. Zeros mean none. */
function keyIn(extension: Buffer | undefined, at: number): string | null {
  const key = extension?.subarray(at, at + KEY_LENGTH);
  return key === undefined || key.every((byte) => byte === 0) ? null : addressOfPublicKey(key);
}

/** The size of an associated account with every extension that a mint can ask of it, in bytes. */
export const MAX_TOKEN_ACCOUNT_SIZE = extendedSize(
  new Map([...ACCOUNT_EXTENSIONS.keys()].map((number) => [number, Buffer.alloc(0)])),
);

/** The size of an associated account. It always has the immutable owner extension, which has no content. */
function extendedSize(extensions: ReadonlyMap<number, Buffer>): number {
  const others = [...extensions.keys()].flatMap((number) => ACCOUNT_EXTENSIONS.get(number) ?? []);
  return EXTENSIONS_AT + [0, ...others].reduce((sum, content) => sum + EXTENSION_HEADER + content, 0);
}
