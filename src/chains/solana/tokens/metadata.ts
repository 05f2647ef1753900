import { keyOf } from '../address.ts';
import { programAddress } from '../message/pda.ts';
import type { OnChainAccount } from '../provider.ts';
import { EXTENSIONS, type Mint } from './mint.ts';

/** Metaplex's. */
const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

/** In Metaplex's account: kind, authority, mint; then name, symbol and address as texts behind their lengths. */
const TEXTS_AT = 1 + 32 + 32;
/** In Token-2022's extension: authority, mint; then the same. */
const EXTENSION_TEXTS_AT = 32 + 32;
const LENGTH_SIZE = 4;
const LONGEST_SYMBOL = 32;

/** Where Metaplex keeps what a token is called. */
export function metadataAddress(mint: string): string {
  return programAddress([Buffer.from('metadata'), keyOf(METADATA_PROGRAM), keyOf(mint)], METADATA_PROGRAM);
}

/** What a token calls itself, or what Metaplex knows; undefined where neither says anything. */
export function symbolOf(mint: Mint, metadata: OnChainAccount | null | undefined): string | undefined {
  const own = mint.extensions.get(EXTENSIONS.metadata);
  const told = own === undefined ? undefined : secondText(own, EXTENSION_TEXTS_AT);
  if (told !== undefined || metadata == null || metadata.owner !== METADATA_PROGRAM) return told;
  return secondText(metadata.data, TEXTS_AT);
}

/** Anybody may write it: what is too long or no text is none. */
function secondText(data: Buffer, from: number): string | undefined {
  const first = sized(data, from);
  const second = first === undefined ? undefined : sized(data, first.end);
  if (second === undefined || second.text.length > LONGEST_SYMBOL) return undefined;
  // Metaplex fills up with zeros.
  const text = second.text.toString('utf8').replaceAll('\0', '').trim();
  return text === '' || /[\p{C}\uFFFD]/u.test(text) ? undefined : text;
}

function sized(data: Buffer, at: number): { text: Buffer; end: number } | undefined {
  if (at + LENGTH_SIZE > data.length) return undefined;
  const start = at + LENGTH_SIZE;
  const end = start + data.readUInt32LE(at);
  return end > data.length ? undefined : { text: data.subarray(start, end), end };
}
