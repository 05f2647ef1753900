import {
  calculateFee,
  ExtensionType,
  getMintLen,
  MintLayout,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  TransferFeeConfigLayout,
  TransferHookLayout,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import t from 'tap';
import { EXTENSIONS, grossFor, netOf, readMint } from '../../../../../../src/chains/solana/tokens/mint.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keypair } from '../../../../../support/solana-messages.ts';

const [authority, mint, hook] = [1, 2, 3].map((seed) => keypair(seed).publicKey) as [PublicKey, PublicKey, PublicKey];
const ADDRESS = mint.toBase58();

function plainMint(decimals = 6, isInitialized = true): Buffer {
  const data = Buffer.alloc(MintLayout.span);
  MintLayout.encode(
    {
      mintAuthorityOption: 1,
      mintAuthority: authority,
      supply: 5n,
      decimals,
      isInitialized,
      freezeAuthorityOption: 0,
      freezeAuthority: PublicKey.default,
    },
    data,
  );
  return data;
}

/** A Token-2022 mint with these extensions, in the program's layout. */
function extendedMint(...extensions: [ExtensionType, Buffer][]): Buffer {
  const parts = extensions.map(([type, content]) => {
    const header = Buffer.alloc(4);
    header.writeUInt16LE(type);
    header.writeUInt16LE(content.length, 2);
    return Buffer.concat([header, content]);
  });
  return Buffer.concat([plainMint(), Buffer.alloc(165 - 82), Buffer.from([1]), ...parts]);
}

const account = (program: PublicKey, data: Buffer) => ({
  lamports: 1n,
  owner: program.toBase58(),
  isExecutable: false,
  data,
});

function feeConfig(older: [number, bigint], newer: [number, bigint]): Buffer {
  const data = Buffer.alloc(TransferFeeConfigLayout.span);
  const fee = ([transferFeeBasisPoints, maximumFee]: [number, bigint]) => ({
    epoch: 0n,
    maximumFee,
    transferFeeBasisPoints,
  });
  TransferFeeConfigLayout.encode(
    {
      transferFeeConfigAuthority: authority,
      withdrawWithheldAuthority: authority,
      withheldAmount: 0n,
      olderTransferFee: fee(older),
      newerTransferFee: fee(newer),
    },
    data,
  );
  return data;
}

t.test('a token of the first program', async (t) => {
  t.match(readMint(ADDRESS, account(TOKEN_PROGRAM_ID, plainMint(9))), {
    address: ADDRESS,
    program: TOKEN_PROGRAM_ID.toBase58(),
    decimals: 9,
    hasHook: false,
    accountSize: 165,
    fees: [],
  });
});

t.test('a token of Token-2022, with and without extensions', async (t) => {
  t.match(readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, plainMint())), { decimals: 6, accountSize: 170, fees: [] });
  const content = Buffer.alloc(TransferHookLayout.span);
  TransferHookLayout.encode({ authority, programId: hook }, content);
  const data = extendedMint(
    [ExtensionType.TransferFeeConfig, feeConfig([50, 1_000n], [100, 2_000n])],
    [ExtensionType.TransferHook, content],
  );
  t.equal(data.length, getMintLen([ExtensionType.TransferFeeConfig, ExtensionType.TransferHook]));
  const read = readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, data));
  t.match(read, { decimals: 6, hasHook: true });
  t.strictSame(read?.fees, [
    { most: 1_000n, basisPoints: 50n },
    { most: 2_000n, basisPoints: 100n },
  ]);
  const idle = extendedMint([ExtensionType.TransferHook, Buffer.alloc(64)]);
  t.match(readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, idle)), { hasHook: false });
});

t.test('an associated account is as large as its program makes it', async (t) => {
  const kinds: [ExtensionType, Buffer, number][] = [
    [ExtensionType.TransferFeeConfig, feeConfig([1, 1n], [1, 1n]), 182],
    [ExtensionType.NonTransferable, Buffer.alloc(0), 174],
    [ExtensionType.TransferHook, Buffer.alloc(64), 175],
    [ExtensionType.PausableConfig, Buffer.alloc(33), 174],
    [ExtensionType.MintCloseAuthority, Buffer.alloc(32), 170],
  ];
  for (const [type, content, size] of kinds) {
    const data = extendedMint([type, content]);
    t.equal(readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, data))?.accountSize, size, ExtensionType[type]);
  }
});

t.test('what is no mint', async (t) => {
  for (const data of [Buffer.alloc(0), Buffer.alloc(165), plainMint(6, false), plainMint().subarray(1)]) {
    t.equal(readMint(ADDRESS, account(TOKEN_PROGRAM_ID, data)), undefined);
  }
  t.equal(readMint(ADDRESS, account(authority, plainMint())), undefined, 'it belongs to another program');
  t.equal(readMint(ADDRESS, null), undefined);
  const tokens = Buffer.concat([Buffer.alloc(165), Buffer.from([2])]);
  t.equal(readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, tokens)), undefined, 'it holds tokens');
});

t.test('extensions that are cut off end the list', async (t) => {
  const whole = extendedMint([ExtensionType.TransferFeeConfig, feeConfig([50, 1_000n], [50, 1_000n])]);
  for (const cut of [1, 10, 100, 108, 110]) {
    const read = readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, whole.subarray(0, whole.length - cut)));
    t.strictSame(read?.fees, []);
  }
  const short = extendedMint([ExtensionType.TransferFeeConfig, Buffer.alloc(89)]);
  t.strictSame(readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, short))?.fees, []);
  t.equal(EXTENSIONS.transferFee, ExtensionType.TransferFeeConfig);
  t.equal(EXTENSIONS.transferHook, ExtensionType.TransferHook);
  t.equal(EXTENSIONS.nonTransferable, ExtensionType.NonTransferable);
  t.equal(EXTENSIONS.pausable, ExtensionType.PausableConfig);
  t.equal(EXTENSIONS.metadata, ExtensionType.TokenMetadata);
});

const fee = fc.record({ basisPoints: fc.bigInt(0n, 10_000n), most: fc.bigInt(0n, 10n ** 12n) });

t.test('what arrives is what the token’s program lets arrive under its higher fee', async (t) => {
  const property = fc.property(fee, fc.bigInt(0n, 10n ** 15n), ({ basisPoints, most }, amount) => {
    const theirs = calculateFee({ epoch: 0n, transferFeeBasisPoints: Number(basisPoints), maximumFee: most }, amount);
    t.equal(netOf({ fees: [{ basisPoints, most }] }, amount), amount - theirs);
  });
  fc.assert(property, { numRuns: runsOf(300) });
  const two = [
    { basisPoints: 100n, most: 10n },
    { basisPoints: 50n, most: 1_000n },
  ];
  t.equal(netOf({ fees: two }, 10_000n), 9_950n);
  t.equal(netOf({ fees: [] }, 10_000n), 10_000n);
});

t.test('what is sent for an amount is enough, and not more than it takes', async (t) => {
  const property = fc.property(fc.array(fee, { maxLength: 2 }), fc.bigInt(1n, 10n ** 12n), (fees, net) => {
    const gross = grossFor({ fees }, net);
    t.ok(netOf({ fees }, gross) >= net);
    if (gross > net) t.ok(netOf({ fees }, gross - 1n) < net, `${gross - 1n} would do for ${net}`);
  });
  fc.assert(property, { numRuns: runsOf(500) });
});
