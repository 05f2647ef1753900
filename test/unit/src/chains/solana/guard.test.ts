import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ACCOUNT_SIZE,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
  ExtensionType,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  BPF_LOADER_PROGRAM_ID,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  StakeProgram,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VoteProgram,
} from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../src/chains/solana/configuration/policy.ts';
import { feePayerLoss, simulatedLossFault } from '../../../../../src/chains/solana/guard/fee-payer.ts';
import {
  type GuardedTransaction,
  policyViolation,
  programsOf,
} from '../../../../../src/chains/solana/guard/policies.ts';
import { policyFaults } from '../../../../../src/chains/solana/guard/policy-faults.ts';
import { tokenFault, tokenTransfers } from '../../../../../src/chains/solana/guard/tokens.ts';
import { type CompiledMessage, decodeMessage } from '../../../../../src/chains/solana/message/compiled-message.ts';
import { decodeTransaction } from '../../../../../src/chains/solana/message/transaction.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../../../src/chains/solana/programs.ts';
import type { Simulation } from '../../../../../src/chains/solana/rpc-calls.ts';
import { fc } from '../../../../support/properties.ts';
import { familyInstructions } from '../../../../support/solana-instructions.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import { keyOf, type NodeAccount, type NodeWorld, openSolana, readOf } from '../../../../support/solana-node.ts';
import { built, memo, RELAYER, relayerAccount } from '../../../../support/solana-relayer.ts';
import { mintAccount } from '../../../../support/token-accounts.ts';

t.test('policies', async (t) => {
  const USER = keypair(32);
  const TO = keypair(33).publicKey;
  const [relayer, user, to] = [RELAYER.publicKey, USER.publicKey, TO].map((key) => key.toBase58()) as [
    string,
    string,
    string,
  ];
  const [MEMO = ''] = MEMO_PROGRAMS;
  const transfer = SystemProgram.transfer({ fromPubkey: USER.publicKey, toPubkey: TO, lamports: 7 });

  /** The violation that these policies find in a transaction of 200 bytes, unless `of` says otherwise. */
  function said(
    policies: object,
    of: Partial<GuardedTransaction> = {},
    instructions: TransactionInstruction[] = [transfer],
  ) {
    const { message } = decodeTransaction(built(instructions));
    return policyViolation({ message, size: 200, ...of }, relayer, readPolicy({ ...policies }), { paysRent: false });
  }

  t.test('each policy in the reference’s words', async (t) => {
    const all = [relayer, user, to, SYSTEM_PROGRAM];
    const cases: [object, string | undefined, Partial<GuardedTransaction>?][] = [
      [{}, undefined],
      [{ allowed_accounts: all }, undefined],
      [{ allowed_accounts: all.slice(1) }, `Account ${relayer} not allowed`],
      [{ allowed_accounts: all.slice(0, 3) }, `Account ${SYSTEM_PROGRAM} not allowed`],
      [{ allowed_accounts: [] }, `Account ${relayer} not allowed`],
      [{ allowed_accounts: all }, `Account ${keyOf(1)} not allowed`, { lookedUp: [keyOf(1)] }],
      [{ disallowed_accounts: [keyOf(1)] }, undefined],
      [{ disallowed_accounts: [to] }, `Account ${to} is explicitly disallowed`],
      [{ disallowed_accounts: [keyOf(1)] }, `Account ${keyOf(1)} is explicitly disallowed`, { lookedUp: [keyOf(1)] }],
      [{ allowed_programs: [SYSTEM_PROGRAM] }, undefined],
      [{ allowed_programs: [MEMO] }, `Program ${SYSTEM_PROGRAM} not allowed`],
      [{ allowed_programs: [] }, `Program ${SYSTEM_PROGRAM} not allowed`],
      [{ allowed_programs: [SYSTEM_PROGRAM] }, `Program ${MEMO} not allowed`, { called: [SYSTEM_PROGRAM, MEMO] }],
      [{ max_signatures: 2 }, undefined],
      [{ max_signatures: 1 }, 'Transaction requires 2 signatures, which exceeds maximum allowed 1'],
      [{ max_signatures: 0 }, 'Transaction requires 2 signatures, which exceeds maximum allowed 0'],
      [{ max_tx_data_size: 200 }, undefined],
      [{ max_tx_data_size: 199 }, 'Transaction size 200 exceeds maximum allowed 199'],
      [{}, 'Transaction size 1233 exceeds maximum allowed 1232', { size: 1_233 }],
    ];
    for (const [policies, reason, of] of cases) {
      const expected = reason === undefined ? undefined : `Policy violation: ${reason}`;
      t.equal(said(policies, of), expected, JSON.stringify(policies));
    }
  });

  t.test('somebody else’s transaction is not paid for', async (t) => {
    const { message } = decodeTransaction(built([transfer], { payer: USER.publicKey }));
    t.equal(
      policyViolation({ message, size: 200 }, relayer, readPolicy({}), { paysRent: false }),
      `Policy violation: Fee payer ${user} does not match relayer address ${relayer}`,
    );
  });

  t.test('of several the first of the reference’s order is told', async (t) => {
    const taking = SystemProgram.transfer({ fromPubkey: RELAYER.publicKey, toPubkey: TO, lamports: 7 });
    const { message } = decodeTransaction(built([taking, memo('a', USER)], { payer: USER.publicKey }));
    let policies: object = {
      disallowed_accounts: [to],
      allowed_programs: [],
      max_signatures: 0,
      max_tx_data_size: 1,
    };
    const next = (without?: string) => {
      policies = Object.fromEntries(Object.entries(policies).filter(([name]) => name !== without));
      return policyViolation({ message, size: 200 }, relayer, readPolicy({ ...policies }), { paysRent: false });
    };
    t.match(next(), /is explicitly disallowed/);
    t.match(next('disallowed_accounts'), /^Policy violation: Program/);
    t.match(next('allowed_programs'), /^Policy violation: Transaction requires/);
    t.match(next('max_signatures'), /^Policy violation: Fee payer/);
    t.match(said({ max_tx_data_size: 1 }, {}, [taking]), /^Policy violation: Transaction size/);
    t.equal(said({}, {}, [taking]), 'Policy violation: Lamports transfers are not allowed from the relayer account');
    t.match(said({ allowed_accounts: [to] }, { called: [MEMO] }, [taking]), /^Policy violation: Account/);
  });

  t.test('the programs are those of the instructions, in their order', async (t) => {
    const { message } = decodeTransaction(
      built([memo('a'), ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }), memo('b')]),
    );
    t.strictSame(programsOf(message), [MEMO, ComputeBudgetProgram.programId.toBase58(), MEMO]);
  });
});

t.test('fee payer', async (t) => {
  const RELAYER = Keypair.generate().publicKey;
  const BLOCKHASH = Keypair.generate().publicKey.toBase58();

  /** A message that the relayer pays for, compiled by the public library. */
  function message(...instructions: TransactionInstruction[]): CompiledMessage {
    const compiled = new TransactionMessage({ payerKey: RELAYER, recentBlockhash: BLOCKHASH, instructions });
    return decodeMessage(compiled.compileToLegacyMessage().serialize());
  }

  /** The same instruction with the relayer as the account at index `place`. */
  function withRelayer({ programId, keys, data }: TransactionInstruction, place: number): TransactionInstruction {
    const named = keys.map((meta, index) => (index === place ? { ...meta, pubkey: RELAYER } : meta));
    return new TransactionInstruction({ programId, keys: named, data });
  }

  /**
   * The account indexes where the relayer may stand: where it receives something, and where it permits a nonce to
   * advance.
   */
  const BOUNDED = new Map([
    ['system transfer', [1]],
    ['system transfer-with-seed', [2]],
    ['nonce advance', [2]],
    ['token close', [1]],
    ['token initialize-account', [2]],
    ['token associated create', [2]],
    ['token associated create-idempotent', [2]],
    ['token-2022 close', [1]],
    ['token-2022 initialize-account', [2]],
    ['token-2022 associated create', [2]],
    ['token-2022 associated create-idempotent', [2]],
  ]);

  t.test('in every place of every instruction the relayer is refused, but where it loses nothing', async (t) => {
    let refused = 0;
    for (const { name, instruction } of familyInstructions()) {
      for (const place of instruction.keys.keys()) {
        const loss = feePayerLoss(message(withRelayer(instruction, place)), { paysRent: false });
        const isBounded = BOUNDED.get(name)?.includes(place) === true;
        if (isBounded) t.equal(loss, undefined, `${name}, account ${place + 1}`);
        else t.type(loss, 'string', `${name}, account ${place + 1}`);
        refused += Number(!isBounded);
      }
      t.equal(feePayerLoss(message(instruction), { paysRent: false }), undefined, `${name} among others`);
    }
    t.ok(refused > 150, `${refused} places are refused`);
  });

  t.test('whatever the data are, an instruction of an unknown program may not name the relayer', async (t) => {
    const refused = fc.check(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(5), fc.nat(5), (data, count, place) => {
        const keys = Array.from({ length: count + 1 }, () => ({
          pubkey: Keypair.generate().publicKey,
          isSigner: false,
          isWritable: false,
        }));
        const programId = Keypair.generate().publicKey;
        const instruction = new TransactionInstruction({ programId, keys, data: Buffer.from(data) });
        const named = withRelayer(instruction, place % keys.length);
        return feePayerLoss(message(named), { paysRent: true }) !== undefined;
      }),
      { numRuns: 100 },
    );
    t.notOk(refused.failed, JSON.stringify(refused.counterexample));
  });

  t.test('a memo may name the relayer', async (t) => {
    for (const program of MEMO_PROGRAMS) {
      const keys = [{ pubkey: RELAYER, isSigner: true, isWritable: false }];
      const memo = new TransactionInstruction({ programId: new PublicKey(program), keys, data: Buffer.from('hi') });
      t.equal(feePayerLoss(message(memo), { paysRent: false }), undefined);
    }
  });

  /**
   * The instructions that the guide allows: the tag their data begin with, and the account index where the relayer may
   * stand.
   */
  const PLACES: Readonly<Record<string, Readonly<Record<string, [tag: number, place: number]>>>> = {
    System: { Transfer: [2, 1], TransferWithSeed: [11, 2], AdvanceNonceAccount: [4, 2] },
    'Token, Token-2022': { InitializeAccount: [1, 2], CloseAccount: [9, 1] },
    'Associated Token Account': { Create: [0, 2], CreateIdempotent: [1, 2] },
  };
  const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
    System: [SYSTEM_PROGRAM],
    'Token, Token-2022': [TOKEN_PROGRAM, TOKEN_2022_PROGRAM],
    'Associated Token Account': [ASSOCIATED_TOKEN_PROGRAM],
    none: [
      ...[StakeProgram, VoteProgram, AddressLookupTableProgram, ComputeBudgetProgram].map((one) =>
        one.programId.toBase58(),
      ),
      BPF_LOADER_PROGRAM_ID.toBase58(),
      'BPFLoaderUpgradeab1e11111111111111111111111',
      'LoaderV411111111111111111111111111111111111',
      'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s',
    ],
  };
  const MAX_PLACES = 12;

  t.test(
    'of all that begins with one tag each program allows what the guide’s table says, in that place only',
    async (t) => {
      const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/solana.md'), 'utf8');
      const told = Object.keys(PLACES).map((family) => {
        const rows = [...guide.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].filter(([, name]) => name === family);
        return [family, rows.flatMap(([, , names = '']) => names.split(', '))];
      });
      t.strictSame(
        Object.fromEntries(told),
        Object.fromEntries(Object.entries(PLACES).map(([k, v]) => [k, Object.keys(v)])),
      );

      const others = Array.from({ length: MAX_PLACES }, () => Keypair.generate().publicKey.toBase58());
      const isLoss = (program: string, data: Buffer, place: number) => {
        const accounts = others.map((_key, index) => (index === place ? 0 : index + 2));
        const keys = [RELAYER.toBase58(), program, ...others];
        const counts = { signers: 1, readonlySigners: 0, readonlyOthers: 0 };
        const called = { keys, blockhash: BLOCKHASH, instructions: [{ program: 1, accounts, data }], lookups: [] };
        return feePayerLoss({ version: 'legacy', ...counts, ...called }, { paysRent: false }) !== undefined;
      };
      const allowed: string[] = [];
      for (const [family, programs] of Object.entries(PROGRAMS)) {
        for (const program of programs) {
          for (let tag = 0; tag < 256; tag += 1) {
            const data = family === 'Associated Token Account' ? Buffer.from([tag]) : Buffer.from([tag, 0, 0, 0, 7, 7]);
            for (let place = 0; place < MAX_PLACES; place += 1) {
              if (!isLoss(program, data, place)) allowed.push(`${program} ${tag} ${place}`);
            }
          }
        }
      }
      const wanted = Object.entries(PLACES).flatMap(([family, places]) =>
        (PROGRAMS[family] ?? []).flatMap((program) =>
          Object.values(places)
            .toSorted(([one], [other]) => one - other)
            .map(([tag, place]) => `${program} ${tag} ${place}`),
        ),
      );
      t.strictSame(allowed, wanted);
      t.ok(isLoss(SYSTEM_PROGRAM, Buffer.from([2, 0, 0, 1]), 1), 'a tag of four bytes is all of them');
      t.ok(isLoss(SYSTEM_PROGRAM, Buffer.from([2, 0, 0]), 1), 'and no fewer');
      t.notOk(isLoss(ASSOCIATED_TOKEN_PROGRAM, Buffer.alloc(0), 2), 'nothing means Create');
      t.ok(isLoss(ASSOCIATED_TOKEN_PROGRAM, Buffer.from([0, 0]), 2));
    },
  );

  t.test('accounts of other programs than those of tokens are paid for nowhere', async (t) => {
    const create = familyInstructions().find(({ name }) => name === 'token associated create-idempotent')?.instruction;
    if (create === undefined) throw new Error('there is one');
    const paid = (program: PublicKey) => {
      const keys = create.keys.map((meta, place) => (place === 5 ? { ...meta, pubkey: program } : meta));
      return message(
        withRelayer(new TransactionInstruction({ programId: create.programId, keys, data: create.data }), 0),
      );
    };
    t.equal(feePayerLoss(paid(new PublicKey(TOKEN_2022_PROGRAM)), { paysRent: true }), undefined);
    t.match(
      feePayerLoss(paid(Keypair.generate().publicKey), { paysRent: true }),
      /names the relayer account as account 1/,
    );
    const whole = paid(new PublicKey(TOKEN_PROGRAM));
    const [{ program, accounts, data } = { program: 0, accounts: [], data: Buffer.alloc(0) }] = whole.instructions;
    const outside = {
      ...whole,
      instructions: [{ program, accounts: [...accounts.slice(0, 5), whole.keys.length], data }],
    };
    t.equal(feePayerLoss(outside, { paysRent: true }), undefined, 'as long as the tables were not asked');
    t.match(feePayerLoss(outside, { paysRent: true, lookedUp: [] }), /names the relayer account/);
    t.equal(feePayerLoss(outside, { paysRent: true, lookedUp: [TOKEN_PROGRAM] }), undefined, 'out of a lookup table');
  });

  t.test('accounts for tokens are paid for where users pay it back', async (t) => {
    const creations = familyInstructions().filter(({ name }) => name.includes('associated create'));
    t.equal(creations.length, 4);
    const paid = message(...creations.map(({ instruction }) => withRelayer(instruction, 0)));
    t.match(feePayerLoss(paid, { paysRent: false }), /names the relayer account as account 1/);
    t.equal(feePayerLoss(paid, { paysRent: true }), undefined);
  });

  t.test('a transfer from the relayer is refused in the reference’s words', async (t) => {
    const [transfer] = familyInstructions();
    const from = transfer === undefined ? [] : [withRelayer(transfer.instruction, 0)];
    t.equal(
      feePayerLoss(message(...from), { paysRent: false }),
      'Lamports transfers are not allowed from the relayer account',
    );
  });
});

t.test('tokens', async (t) => {
  const [SOURCE, DESTINATION, AUTHORITY, ALLOWED, OTHER] = [1, 2, 3, 4, 5].map(keyOf) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const at = (key: string) => new PublicKey(key);

  /** A token account that holds this mint. */
  function holding(mint: string): NodeAccount {
    const data = Buffer.alloc(ACCOUNT_SIZE);
    at(mint).toBuffer().copy(data, 0);
    data[108] = 1;
    return { owner: TOKEN_PROGRAM, data };
  }

  const plain = (source: string) => createTransferInstruction(at(source), at(DESTINATION), at(AUTHORITY), 5n);
  const checked = (mint: string) =>
    createTransferCheckedInstruction(at(SOURCE), at(mint), at(DESTINATION), at(AUTHORITY), 5n, 6);

  /** The fault found in the instructions. By default the policies allow only one token. */
  async function faultOf(
    t: Test,
    instructions: TransactionInstruction[],
    accounts: Record<string, NodeAccount> = {},
    policies: object = { allowed_tokens: [{ mint: ALLOWED }] },
  ) {
    const { rpc, asked } = await openSolana(t, { accounts });
    const { message } = decodeTransaction(built(instructions));
    const policy = readPolicy({ ...policies });
    const fault = await rpc.onOne((read) => tokenFault(read, message, message.keys, policy));
    return { fault, asked: asked('getMultipleAccounts') };
  }

  t.test('only allowed tokens move, in the reference’s words', async (t) => {
    t.match(await faultOf(t, [checked(ALLOWED)]), { fault: undefined, asked: 0 });
    t.match(await faultOf(t, [checked(ALLOWED), checked(OTHER)]), {
      fault: `Policy violation: Token ${OTHER} not allowed for transfers`,
    });
    t.match(await faultOf(t, [memo('none')]), { fault: undefined, asked: 0 });
  });

  t.test('where a transfer does not name its token, its source tells, asked for once', async (t) => {
    const accounts = { [SOURCE]: holding(ALLOWED), [DESTINATION]: holding(OTHER) };
    t.match(await faultOf(t, [plain(SOURCE), plain(SOURCE)], accounts), { fault: undefined, asked: 1 });
    t.match(await faultOf(t, [plain(SOURCE)], { [SOURCE]: holding(OTHER) }), {
      fault: `Policy violation: Token ${OTHER} not allowed for transfers`,
    });
    const none = `Policy violation: ${SOURCE} is not a token account`;
    t.match(await faultOf(t, [plain(SOURCE)]), { fault: none });
    t.match(await faultOf(t, [plain(SOURCE)], { [SOURCE]: { owner: keyOf(6), data: holding(ALLOWED).data } }), {
      fault: none,
    });
  });

  t.test('no list, and an empty one, allow all and ask nobody', async (t) => {
    for (const policies of [{}, { allowed_tokens: [] }]) {
      t.match(await faultOf(t, [checked(OTHER), plain(SOURCE)], {}, policies), { fault: undefined, asked: 0 });
    }
  });
});

t.test('token transfers', async (t) => {
  const [SOURCE, MINT, DESTINATION, AUTHORITY] = [1, 2, 3, 4].map((seed) => new PublicKey(keyOf(seed))) as [
    PublicKey,
    PublicKey,
    PublicKey,
    PublicKey,
  ];
  const MAX = 2n ** 64n - 1n;

  function message(...instructions: TransactionInstruction[]): CompiledMessage {
    const compiled = new TransactionMessage({
      payerKey: new PublicKey(keyOf(9)),
      recentBlockhash: keyOf(8),
      instructions,
    });
    return decodeMessage(compiled.compileToLegacyMessage().serialize());
  }

  const transfersOf = (...instructions: TransactionInstruction[]) => {
    const compiled = message(...instructions);
    return tokenTransfers(compiled, compiled.keys);
  };

  const moved = (program: PublicKey, mint: PublicKey | null, amount: bigint) => ({
    program: program.toBase58(),
    source: SOURCE.toBase58(),
    destination: DESTINATION.toBase58(),
    mint: mint?.toBase58() ?? null,
    authority: AUTHORITY.toBase58(),
    amount,
  });

  t.test('every kind of transfer of the public client is one, and nothing else of the family is', async (t) => {
    for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
      t.strictSame(
        transfersOf(
          createTransferInstruction(SOURCE, DESTINATION, AUTHORITY, MAX, [], program),
          createTransferCheckedInstruction(SOURCE, MINT, DESTINATION, AUTHORITY, 7n, 6, [], program),
        ),
        [moved(program, null, MAX), moved(program, MINT, 7n)],
      );
    }
    const withFee = createTransferCheckedWithFeeInstruction(SOURCE, MINT, DESTINATION, AUTHORITY, 250_000n, 6, 2_500n);
    t.strictSame(transfersOf(withFee), [moved(TOKEN_2022_PROGRAM_ID, MINT, 250_000n)]);
    const transfers = familyInstructions().filter(({ instruction }) => transfersOf(instruction).length > 0);
    t.strictSame(
      transfers.map(({ name }) => name),
      [
        ...['token transfer', 'token transfer-checked', 'token batch'],
        ...['token-2022 transfer', 'token-2022 transfer-checked', 'token-2022 batch', 'token-2022 transfer-with-fee'],
      ],
    );
  });

  const raw = (keys: PublicKey[], data: readonly number[] | Buffer, programId = TOKEN_PROGRAM_ID) =>
    new TransactionInstruction({
      programId,
      data: Buffer.from(data),
      keys: keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
    });

  t.test('half of a transfer, and one of another program, is none', async (t) => {
    const amount = Buffer.alloc(8, 1);
    const all = [SOURCE, MINT, DESTINATION, AUTHORITY];
    for (const broken of [
      raw(all.slice(0, 2), [3, ...amount]),
      raw(all.slice(0, 3), [12, ...amount, 6]),
      raw(all.slice(0, 3), [26, 1, ...amount, 6, ...amount]),
      raw(all, [3, ...amount.subarray(1)]),
      raw(all, [26, 1, ...amount.subarray(1)]),
      raw(all, [26, 0, ...amount, 6]),
      raw(all, [26]),
      raw(all, []),
      raw([], [3, ...amount]),
      raw(all, [3, ...amount], new PublicKey(keyOf(7))),
    ]) {
      t.strictSame(transfersOf(broken), [], broken.data.toString('hex'));
    }
  });

  t.test('transfers in a batch are transfers', async (t) => {
    const [plain, checked] = [
      createTransferInstruction(SOURCE, DESTINATION, AUTHORITY, 5n),
      createTransferCheckedInstruction(SOURCE, MINT, DESTINATION, AUTHORITY, 7n, 6),
    ];
    const part = ({ keys, data }: TransactionInstruction) => [keys.length, data.length, ...data];
    const keys = [...plain.keys, ...checked.keys].map(({ pubkey }) => pubkey);
    const batch = [255, ...part(plain), ...part(checked)];
    const both = [moved(TOKEN_PROGRAM_ID, null, 5n), moved(TOKEN_PROGRAM_ID, MINT, 7n)];
    t.strictSame(transfersOf(raw(keys, batch)), both);
    t.strictSame(transfersOf(raw(keys, batch.slice(0, -8))), both.slice(0, 1), 'one that ends too early is none');
    t.strictSame(transfersOf(raw(keys, [255])), []);
    t.strictSame(transfersOf(raw(keys, [255, 3])), []);
    t.strictSame(transfersOf(raw(keys, [255, 7, batch.length, ...batch])), [], 'the program takes no batch in a batch');
  });

  t.test('accounts out of lookup tables are named by who knows them', async (t) => {
    const { keys, ...compiled } = message(createTransferInstruction(SOURCE, DESTINATION, AUTHORITY, 5n));
    const place = keys.indexOf(SOURCE.toBase58());
    const looked = { ...compiled, keys: keys.with(place, keyOf(20)) };
    const instructions = compiled.instructions.map((one) => ({
      ...one,
      accounts: one.accounts.map((account) => (account === place ? keys.length : account)),
    }));
    const found = tokenTransfers({ ...looked, instructions }, [...looked.keys, SOURCE.toBase58()]);
    t.strictSame(found, [moved(TOKEN_PROGRAM_ID, null, 5n)]);
    t.match(tokenTransfers({ ...looked, instructions }, looked.keys), [{ source: '' }]);
  });
});

t.test('known', async (t) => {
  const [MINT, GONE] = [keyOf(41), keyOf(99)];

  async function faults(t: Test, policies: Parameters<typeof relayerAccount>[0], ...nodes: NodeWorld[]) {
    const { rpc } = await openSolana(t, ...nodes);
    return policyFaults(rpc, relayerAccount(policies));
  }

  t.test('what the policies allow has to be there, and the words say what to do', async (t) => {
    const world = { accounts: { [MINT]: mintAccount(6), [TOKEN_PROGRAM]: { owner: keyOf(2), data: Buffer.alloc(0) } } };
    t.strictSame(await faults(t, { allowed_tokens: [{ mint: MINT }] }, world), []);
    t.strictSame(await faults(t, {}, world), []);
    const wrong = { allowed_programs: [GONE, TOKEN_PROGRAM], allowed_tokens: [{ mint: GONE }, { mint: MINT }] };
    t.strictSame(await faults(t, wrong, world), [
      `allowed_programs: ${GONE} is not on this network; correct it, or remove it`,
      `allowed_programs: ${TOKEN_PROGRAM} is an account and no program; correct it, or remove it`,
      `allowed_tokens: ${GONE} is not a token on this network; correct it, or remove it`,
    ]);
  });

  t.test('whoever may move and burn everybody’s tokens is warned of, and accepted', async (t) => {
    const data = Buffer.alloc(getMintLen([ExtensionType.PermanentDelegate]));
    mintAccount(6).data.copy(data);
    data.writeUInt8(1, 165);
    data.writeUInt16LE(ExtensionType.PermanentDelegate, 166);
    data.writeUInt16LE(32, 168);
    new PublicKey(GONE).toBuffer().copy(data, 170);
    const { rpc } = await openSolana(t, { accounts: { [MINT]: { owner: TOKEN_2022_PROGRAM, data } } });
    const risks: string[] = [];
    const account = relayerAccount({ allowed_tokens: [{ mint: MINT }] });
    t.strictSame(await policyFaults(rpc, account, (risk) => risks.push(risk)), []);
    t.match(risks, [new RegExp(`^allowed_tokens: ${GONE} may move and burn everybody's tokens of ${MINT}`)]);
  });

  t.test('what one endpoint does not have and another one has is there', async (t) => {
    const policies = { allowed_tokens: [{ mint: MINT }] };
    t.strictSame(await faults(t, policies, {}, { accounts: { [MINT]: mintAccount(6) } }), []);
    t.equal((await faults(t, policies, {}, {})).length, 1);
  });
});

// The guard may overlook an instruction, so a simulation shows what is left on the account. Changes by other
// transactions in the meantime do not count as a loss.
t.test('loss', async (t) => {
  const PAYER = keyOf(1);
  const BOUND = { payer: PAYER, trial: 'AQAB', replacesBlockhash: false, most: 5_000n };

  const account = (lamports: number) => ({ lamports, owner: keyOf(0), executable: false, data: ['', 'base64'] });

  /** A simulation that leaves this many lamports on the payer. Null: the account is gone. */
  const leaving = (lamports: bigint | null): Simulation => ({
    error: null,
    logs: [],
    used: null,
    programs: [],
    accounts: [lamports === null ? null : { lamports, owner: keyOf(0), isExecutable: false, data: Buffer.alloc(0) }],
  });

  /**
   * A node where the payer has `has` lamports and a second simulation leaves `left`. Null: gone; undefined: no answer.
   */
  function node(left: number | null | undefined, has: number) {
    const accounts = left === undefined ? null : [left === null ? null : account(left)];
    return readOf({
      getBalance: { value: has },
      simulateTransaction: { value: { err: null, logs: [], unitsConsumed: 1, accounts } },
    });
  }

  t.test('what leaves all but fee and rent is let through at once', async (t) => {
    const read = node(0, 0);
    for (const left of [995_000n, 1_000_000n, 2_000_000n]) {
      t.equal(await simulatedLossFault(read, leaving(left), 1_000_000n, BOUND), undefined);
    }
    t.equal(
      await simulatedLossFault(read, { ...leaving(0n), accounts: [] }, 1_000_000n, BOUND),
      undefined,
      'the node tells nothing',
    );
    t.equal(await simulatedLossFault(read, { ...leaving(null), error: 'AccountInUse' }, 1_000_000n, BOUND), undefined);
    t.strictSame(read.asked, []);
  });

  t.test('a lamport more is a loss, when a second trial shows it too', async (t) => {
    const reason =
      /^Policy violation: It takes 5001 lamports from the relayer account, of which its fee and rent are 5000$/;
    t.match(await simulatedLossFault(node(994_999, 1_000_000), leaving(994_999n), 1_000_000n, BOUND), reason);
    t.match(
      await simulatedLossFault(node(null, 1_000_000), leaving(null), 1_000_000n, BOUND),
      /It takes 1000000 lamports/,
    );
  });

  t.test('what another transaction took meanwhile is none', async (t) => {
    t.equal(await simulatedLossFault(node(990_000, 995_000), leaving(990_000n), 1_000_000n, BOUND), undefined);
    t.equal(await simulatedLossFault(node(undefined, 995_000), leaving(990_000n), 1_000_000n, BOUND), undefined);
  });

  t.test('the second trial is between two looks at the balance', async (t) => {
    const read = node(0, 1_000_000);
    await simulatedLossFault(read, leaving(0n), 1_000_000n, BOUND);
    t.strictSame(
      read.asked.map(([method]) => method),
      ['getBalance', 'simulateTransaction', 'getBalance'],
    );
    t.match(read.asked[1], [/./, ['AQAB', { accounts: { encoding: 'base64', addresses: [PAYER] } }]]);
  });
});
