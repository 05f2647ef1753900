import {
  ACCOUNT_SIZE,
  AccountLayout,
  calculateFee,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  ExtensionType,
  getMintLen,
  MintLayout,
  MULTISIG_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  TransferFeeConfigLayout,
  TransferHookLayout,
  unpackAccount,
} from '@solana/spl-token';
import { PublicKey, SystemProgram, type TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { decodeMessage } from '../../../../../src/chains/solana/message/compiled-message.ts';
import { SYSTEM_PROGRAM } from '../../../../../src/chains/solana/programs.ts';
import type { OnChainAccount } from '../../../../../src/chains/solana/rpc-calls.ts';
import {
  associatedAccount,
  createAssociatedAccountInstruction,
  rentOfNewAccounts,
} from '../../../../../src/chains/solana/tokens/associated.ts';
import {
  grossBeforeTransferFee,
  MINT_EXTENSIONS,
  netAfterTransferFee,
  readMint,
} from '../../../../../src/chains/solana/tokens/mint.ts';
import { readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../../../../../src/chains/solana/tokens/token-account.ts';
import {
  lamportsTransfer,
  readLamportsTransfer,
  tokensTransfer,
} from '../../../../../src/chains/solana/tokens/transfer.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import { keyOf, openSolana } from '../../../../support/solana-node.ts';
import { accountOf, MINT, relayerAddress, TOKENS, userAddress } from '../../../../support/sponsor-scene.ts';
import { mintAccount } from '../../../../support/token-accounts.ts';

t.test('associated', async (t) => {
  const RENT = BigInt((165 + 128) * 6_960);

  const creation = (payer: string, owner: string) =>
    createAssociatedTokenAccountIdempotentInstruction(
      ...([new PublicKey(payer), new PublicKey(accountOf(owner)), new PublicKey(owner), new PublicKey(MINT)] as const),
    );

  async function rentOf(t: Test, ...instructions: ReturnType<typeof creation>[]): Promise<bigint> {
    const draft = { payerKey: new PublicKey(relayerAddress), recentBlockhash: keyOf(7), instructions };
    const message = decodeMessage(new TransactionMessage(draft).compileToLegacyMessage().serialize());
    const { rpc } = await openSolana(t, { accounts: TOKENS });
    return rpc.onOne((read) => rentOfNewAccounts(read, message, message.keys));
  }

  t.test('an account is made as the public client makes it', async (t) => {
    const { owner, data } = mintAccount(6);
    const mint = readMint(MINT, { lamports: 1n, owner, isExecutable: false, data });
    if (mint === undefined) throw new Error('it is one');
    const theirs = creation(relayerAddress, userAddress);
    t.strictSame(createAssociatedAccountInstruction(relayerAddress, userAddress, mint), theirs);
    t.equal(associatedAccount(userAddress, mint), accountOf(userAddress));
  });

  t.test('rent is for every account that the relayer pays for, but its own that is there', async (t) => {
    t.equal(await rentOf(t), 0n);
    t.equal(await rentOf(t, creation(relayerAddress, userAddress)), RENT, 'it may be closed by then');
    t.equal(await rentOf(t, creation(relayerAddress, keyOf(50)), creation(relayerAddress, keyOf(51))), 2n * RENT);
    const again = [creation(relayerAddress, userAddress), creation(relayerAddress, userAddress)];
    t.equal(await rentOf(t, ...again), 2n * RENT, 'it may be closed in between');
    t.equal(await rentOf(t, creation(relayerAddress, relayerAddress)), 0n);
    t.equal(await rentOf(t, creation(userAddress, keyOf(50))), 0n, 'somebody else pays');
  });
});

t.test('mint', async (t) => {
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
    t.match(readMint(ADDRESS, account(TOKEN_2022_PROGRAM_ID, plainMint())), {
      decimals: 6,
      accountSize: 170,
      fees: [],
    });
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
    t.equal(MINT_EXTENSIONS.transferFee, ExtensionType.TransferFeeConfig);
    t.equal(MINT_EXTENSIONS.transferHook, ExtensionType.TransferHook);
    t.equal(MINT_EXTENSIONS.nonTransferable, ExtensionType.NonTransferable);
    t.equal(MINT_EXTENSIONS.pausable, ExtensionType.PausableConfig);
    t.equal(MINT_EXTENSIONS.metadata, ExtensionType.TokenMetadata);
  });

  const fee = fc.record({ basisPoints: fc.bigInt(0n, 10_000n), most: fc.bigInt(0n, 10n ** 12n) });

  t.test('what arrives is what the token’s program lets arrive under its higher fee', async (t) => {
    const property = fc.property(fee, fc.bigInt(0n, 10n ** 15n), ({ basisPoints, most }, amount) => {
      const theirs = calculateFee({ epoch: 0n, transferFeeBasisPoints: Number(basisPoints), maximumFee: most }, amount);
      t.equal(netAfterTransferFee({ fees: [{ basisPoints, most }] }, amount), amount - theirs);
    });
    fc.assert(property, { numRuns: runsOf(300) });
    const two = [
      { basisPoints: 100n, most: 10n },
      { basisPoints: 50n, most: 1_000n },
    ];
    t.equal(netAfterTransferFee({ fees: two }, 10_000n), 9_950n);
    t.equal(netAfterTransferFee({ fees: [] }, 10_000n), 10_000n);
  });

  t.test('what is sent for an amount is enough, and not more than it takes', async (t) => {
    const property = fc.property(fc.array(fee, { maxLength: 2 }), fc.bigInt(1n, 10n ** 12n), (fees, net) => {
      const gross = grossBeforeTransferFee({ fees }, net);
      t.ok(netAfterTransferFee({ fees }, gross) >= net);
      if (gross > net) t.ok(netAfterTransferFee({ fees }, gross - 1n) < net, `${gross - 1n} would do for ${net}`);
    });
    fc.assert(property, { numRuns: runsOf(500) });
  });
});

t.test('token account', async (t) => {
  const PROGRAMS = [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID].map((program) => program.toBase58());

  const account = (owner: string, data: Buffer): OnChainAccount => ({ lamports: 1n, owner, isExecutable: false, data });

  /** A token account in the public client's layout, with `rest` after it. */
  function tokenData({ state = 1, amount = 5n, rest = Buffer.alloc(0) } = {}): Buffer {
    const data = Buffer.alloc(ACCOUNT_SIZE);
    const none = { delegateOption: 0, delegate: PublicKey.default, isNativeOption: 0, isNative: 0n } as const;
    const noClose = { closeAuthorityOption: 0, closeAuthority: PublicKey.default, delegatedAmount: 0n } as const;
    const [mint, owner] = [new PublicKey(keyOf(1)), new PublicKey(keyOf(2))];
    AccountLayout.encode({ mint, owner, amount, state, ...none, ...noClose }, data);
    return Buffer.concat([data, rest]);
  }

  t.test('who may move some of an account is told', async (t) => {
    const data = tokenData({ state: 1, amount: 5n, rest: Buffer.alloc(0) });
    data.writeUInt32LE(1, 72);
    new PublicKey(keyOf(3)).toBuffer().copy(data, 76);
    t.match(readTokenAccount(account(TOKEN_PROGRAM_ID.toBase58(), data)), { delegate: keyOf(3) });
  });

  t.test('an account is read as the public client reads it', async (t) => {
    t.equal(TOKEN_ACCOUNT_SIZE, ACCOUNT_SIZE);
    const extended = Buffer.from([2, 7, 0, 0, 0]);
    for (const program of PROGRAMS) {
      for (const [state, isFrozen] of [
        [1, false],
        [2, true],
      ] as const) {
        const data = tokenData({
          state,
          amount: 2n ** 64n - 1n,
          rest: program === PROGRAMS[1] ? extended : Buffer.alloc(0),
        });
        t.strictSame(readTokenAccount(account(program, data)), {
          program,
          mint: keyOf(1),
          owner: keyOf(2),
          amount: 2n ** 64n - 1n,
          isFrozen,
          delegate: null,
        });
      }
    }
  });

  /** How the public client reads the account. Undefined: it refuses it. */
  function theirs({ owner, data }: OnChainAccount) {
    try {
      const info = { executable: false, owner: new PublicKey(owner), lamports: 1, data, rentEpoch: 0 };
      const { mint, owner: holder, amount, isInitialized } = unpackAccount(PublicKey.default, info, info.owner);
      return isInitialized ? [mint.toBase58(), holder.toBase58(), amount] : undefined;
    } catch {
      return undefined;
    }
  }

  t.test('whatever the bytes are, it is an account where the public client says so', async (t) => {
    const size = fc.constantFrom(0, 82, ACCOUNT_SIZE - 1, ACCOUNT_SIZE, ACCOUNT_SIZE + 1, 170, MULTISIG_SIZE, 400);
    let accounts = 0;
    const property = fc.property(
      size.chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
      fc.constantFrom(...PROGRAMS),
      fc.nat(2),
      fc.nat(3),
      (bytes, owner, state, kind) => {
        const data = Buffer.from(bytes);
        if (data.length > 108) data[108] = state;
        if (data.length > ACCOUNT_SIZE) data[ACCOUNT_SIZE] = kind;
        const there = account(owner, data);
        const ours = readTokenAccount(there);
        // The first token program has no extensions, so longer data cannot be an account of it.
        const expected = owner === PROGRAMS[0] && data.length > ACCOUNT_SIZE ? undefined : theirs(there);
        accounts += Number(ours !== undefined);
        return (
          JSON.stringify(ours && [ours.mint, ours.owner, `${ours.amount}`]) === JSON.stringify(expected?.map(String))
        );
      },
    );
    fc.assert(property, { numRuns: runsOf(1_000) });
    t.ok(accounts > 50, `${accounts} of them are accounts`);
  });

  t.test('what is no account of these programs is none', async (t) => {
    t.equal(readTokenAccount(null), undefined);
    t.equal(readTokenAccount(undefined), undefined);
    t.equal(readTokenAccount(account(SYSTEM_PROGRAM, tokenData())), undefined);
    t.equal(readTokenAccount(account(String(PROGRAMS[0]), tokenData({ state: 0 }))), undefined, 'not initialized');
    const multisig = tokenData({
      rest: Buffer.concat([Buffer.from([2]), Buffer.alloc(MULTISIG_SIZE - ACCOUNT_SIZE - 1)]),
    });
    t.equal(multisig.length, MULTISIG_SIZE);
    t.equal(
      readTokenAccount(account(String(PROGRAMS[1]), multisig)),
      undefined,
      'the bytes of a multisig are anybody’s',
    );
  });
});

t.test('transfer', async (t) => {
  const [from, to, mint, source, destination] = [1, 2, 3, 4, 5].map((seed) => keypair(seed).publicKey);
  if (!from || !to || !mint || !source || !destination) throw new Error('there are five keys');

  const named = ({ keys }: TransactionInstruction) => keys.map(({ pubkey }) => pubkey.toBase58());
  const readIn = (instruction: TransactionInstruction, data = instruction.data) =>
    readLamportsTransfer(instruction.programId.toBase58(), named(instruction), data);

  t.test('transfers are those of the public client', async (t) => {
    const lamports = 2n ** 60n;
    t.strictSame(
      lamportsTransfer(from.toBase58(), to.toBase58(), lamports),
      SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports }),
    );
    const token = {
      address: mint.toBase58(),
      program: TOKEN_2022_PROGRAM_ID.toBase58(),
      decimals: 9,
      fees: [],
      hasHook: false,
      permanentDelegate: null,
      accountSize: 170,
      extensions: new Map(),
    };
    t.strictSame(
      tokensTransfer({
        mint: token,
        source: source.toBase58(),
        destination: destination.toBase58(),
        authority: from.toBase58(),
        amount: lamports,
      }),
      createTransferCheckedInstruction(source, mint, destination, from, lamports, 9, [], TOKEN_2022_PROGRAM_ID),
    );
    t.throws(() => lamportsTransfer(from.toBase58(), to.toBase58(), 2n ** 64n), /expected number to be in the range/);
  });

  t.test('what moves lamports is read, and nothing else', async (t) => {
    const plain = lamportsTransfer(from.toBase58(), to.toBase58(), 7n);
    t.strictSame(readIn(plain), {
      from: from.toBase58(),
      to: to.toBase58(),
      lamports: 7n,
    });
    const seed = { basePubkey: source, seed: 'x', programId: mint };
    const seeded = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 9, ...seed });
    t.strictSame(readIn(seeded), {
      from: from.toBase58(),
      to: to.toBase58(),
      lamports: 9n,
    });
    const assign = SystemProgram.assign({ accountPubkey: from, programId: mint });
    t.equal(readIn(assign), undefined);
    t.equal(readLamportsTransfer(mint.toBase58(), named(plain), plain.data), undefined);
    t.equal(readIn(plain, plain.data.subarray(0, 11)), undefined);
  });
});
