import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { Keypair, StrKey, TransactionBuilder } from '@stellar/stellar-sdk';
import { computeAddress, hexlify, Transaction, TypedDataEncoder, verifyMessage, verifyTypedData } from 'ethers';
import type { Test } from 'tap';
import { signOnlyTransaction } from '../../../src/chains/evm/form/sign-only.ts';
import { signMessage as signEvmMessage, signTypedData } from '../../../src/chains/evm/signing.ts';
import { createChains } from '../../../src/chains/registry.ts';
import { signMessage, signMessageAs } from '../../../src/chains/solana/signing.ts';
import { signTransaction } from '../../../src/chains/stellar/signing.ts';
import { fromBase58 } from '../../../src/domain/base58.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { NetworkType } from '../../../src/domain/network-type.ts';
import type { Curve, Signer, SignerKind } from '../../../src/signers/signer.ts';
import { fieldsOf, lumens, PASSPHRASE } from '../stellar-relayer.ts';
import type { SignerDouble } from './signer-double.ts';

/** Tests a signer for each chain family. Other libraries than the product's check its signatures. */

const chains = createChains(systemClock);

/** The families for which a kind says that it signs, on a curve. */
export function familiesOf({ notFor }: Pick<SignerKind, 'notFor'>, curve: Curve): NetworkType[] {
  const families = [...chains].filter(([, chain]) => chain.curve === curve).map(([family]) => family);
  return families.filter((family) => notFor?.[family] === undefined);
}

/**
 * Tests address, message, typed data and transaction, as far as the family has them.
 * @param subject if its `payload` says that it signs no other bytes, it signs a text as the text is
 */
export async function servesFamily(
  t: Test,
  family: NetworkType,
  signer: Signer,
  { publicKey, payload }: Pick<SignerDouble, 'publicKey' | 'payload'>,
): Promise<void> {
  if (family === 'evm') await servesEvm(t, signer, publicKey);
  else if (family === 'stellar') await servesStellar(t, signer, publicKey);
  else await servesSolana(t, signer, publicKey, payload === undefined);
}

async function servesEvm(t: Test, signer: Signer, publicKey: Buffer): Promise<void> {
  const address = computeAddress(hexlify(publicKey));
  const own = chains.get('evm')?.addressOf(await signer.publicKey('secp256k1')) ?? '';
  t.equal(own, address.toLowerCase());
  const account = { address: own, policies: {}, identity: '31337' };

  const message = await signEvmMessage({ message: 'Grüße 😀' }, account, signer);
  t.equal(verifyMessage('Grüße 😀', `0x${String(message['sig'])}`), address);

  const domain = { name: 'Test', chainId: 31_337 };
  const types = { Vote: [{ name: 'choice', type: 'uint256' }] };
  const vote = { choice: '7' };
  const digests = {
    domain_separator: TypedDataEncoder.hashDomain(domain),
    hash_struct_message: TypedDataEncoder.hashStruct('Vote', types, vote),
  };
  const typed = await signTypedData(digests, account, signer);
  t.equal(verifyTypedData(domain, types, vote, `0x${String(typed['sig'])}`), address);

  const body = { to: `0x${'c'.repeat(40)}`, value: '1', nonce: 3, gas_limit: 21_000 };
  for (const price of [{ gas_price: '9' }, { max_fee_per_gas: '9', max_priority_fee_per_gas: '1' }]) {
    const signed = await signOnlyTransaction({ ...body, ...price }, account, signer, null);
    t.equal(Transaction.from(String(signed['transaction'])).from, address);
  }
}

async function servesSolana(t: Test, signer: Signer, publicKey: Buffer, signsBytes: boolean): Promise<void> {
  const account = new PublicKey(publicKey);
  const address = chains.get('solana')?.addressOf(await signer.publicKey('ed25519')) ?? '';
  t.equal(address, account.toBase58());

  const { transaction } = await signMessageAs(address, solanaMessage(publicKey), [Buffer.alloc(64)], signer);
  const read = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  t.ok(isSigned(publicKey, read.message.serialize(), read.signatures[0] ?? Buffer.alloc(64)));

  const text = 'Grüße 😀';
  const { signature } = await signMessage({ message: text }, { address, policies: {}, identity: '' }, signer);
  const signed = signsBytes ? offChainText(text, account) : Buffer.from(text);
  t.ok(isSigned(publicKey, signed, fromBase58(String(signature), 64) ?? Buffer.alloc(64)));
}

/** Solana, "Off-Chain Message Signing": domain, version, application domain, format, signers, length, text. */
function offChainText(text: string, signer: PublicKey): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const head = Buffer.concat([Buffer.from('\xffsolana offchain', 'latin1'), Buffer.alloc(33), Buffer.from([1, 1])]);
  return Buffer.concat([head, signer.toBuffer(), Buffer.from([bytes.length, 0]), bytes]);
}

async function servesStellar(t: Test, signer: Signer, publicKey: Buffer): Promise<void> {
  const account = StrKey.encodeEd25519PublicKey(publicKey);
  const source = chains.get('stellar')?.addressOf(await signer.publicKey('ed25519')) ?? '';
  t.equal(source, account);
  const request = { operations: [lumens(5)] };
  const { raw } = await signTransaction({ request }, fieldsOf({ source }), { kind: 'sequence', sequence: 8n }, signer);
  const read = TransactionBuilder.fromXdr(raw, PASSPHRASE);
  const [signature] = read.signatures;
  t.ok(Keypair.fromPublicKey(account).verify(read.hash(), signature?.signature.toBytes() ?? Buffer.alloc(64)));
}

/** The bytes of a payment's message. The given account pays the fee. */
export function solanaMessage(payer: Buffer): Buffer {
  const from = new PublicKey(payer);
  const message = new TransactionMessage({
    payerKey: from,
    recentBlockhash: new PublicKey(randomBytes(32)).toBase58(),
    instructions: [SystemProgram.transfer({ fromPubkey: from, toPubkey: new PublicKey(randomBytes(32)), lamports: 1 })],
  }).compileToV0Message();
  return Buffer.from(new VersionedTransaction(message).message.serialize());
}

/** Verifies a signature with OpenSSL. */
export function isSigned(publicKey: Buffer, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
}
