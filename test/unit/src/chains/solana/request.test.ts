import { createHash } from 'node:crypto';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { encodeBase58 } from 'ethers';
import t from 'tap';
import { parseRequestForm } from '../../../../../src/chains/request-form.ts';
import { addressBytes, addressOfPublicKey, isAddress } from '../../../../../src/chains/solana/address.ts';
import {
  parseSendRequest,
  readPartlySignedTransaction,
  signOnlyRequestSchema,
} from '../../../../../src/chains/solana/request.ts';
import {
  readChainFields,
  readStoredRequest,
  toTransactionInstructions,
} from '../../../../../src/chains/solana/schema.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { fc } from '../../../../support/properties.ts';
import { keypair, realTransactions } from '../../../../support/solana-messages.ts';
import { keyOf } from '../../../../support/solana-node.ts';
import { built, memo, onWire, RELAYER, relayerAccount } from '../../../../support/solana-relayer.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const USER = keypair(32);
const relayer = RELAYER.publicKey.toBase58();

const parse = (body: unknown, policies: JsonObject = {}) => parseSendRequest(body, relayerAccount(policies), NOW);

/** The message that the client gets for this request. */
function refusal(body: unknown, policies: JsonObject = {}): string {
  try {
    parse(body, policies);
  } catch (error) {
    const { code, status, message } = error as { code: string; status: number; message: string };
    return code === 'INVALID_REQUEST' && status === 400 ? message : `${code} ${status} ${message}`;
  }
  return 'taken';
}

const hello = onWire(memo('hello'));

t.test('instructions are kept as they came', async (t) => {
  const whole = [onWire(memo('signed by us', RELAYER)), { ...hello, data: '' }];
  t.strictSame(parse({ instructions: whole }), {
    request: { instructions: whole },
    validUntil: null,
    contentKey: null,
    anchorKind: 'none',
    onDeath: 'renew',
  });
  t.match(parse({ instructions: whole, transaction: null, idl: null, valid_until: null }), { validUntil: null });
  const later = parse({ instructions: whole, valid_until: '2026-01-01T01:00:00+00:30' });
  t.equal(later.validUntil, NOW + 30 * 60_000);
});

t.test('a transaction is known by what was signed, and ends as its blockhash and signers let it', async (t) => {
  const alone = built([memo('a')]);
  const message = Buffer.from(alone, 'base64').subarray(65);
  t.strictSame(parse({ transaction: alone, instructions: [] }), {
    request: { transaction: alone },
    contentKey: createHash('sha256').update(message).digest('hex'),
    anchorKind: 'none',
    onDeath: 'renew',
    validUntil: null,
  });
  const both = built([memo('a', USER)], { signers: [USER] });
  t.match(parse({ transaction: both }), { anchorKind: 'none', onDeath: 'end' });
  const signedByUs = built([memo('a', USER)], { signers: [USER, RELAYER] });
  t.equal(parse({ transaction: signedByUs }).contentKey, parse({ transaction: both }).contentKey);
  const advance = SystemProgram.nonceAdvance({
    noncePubkey: new PublicKey(keyOf(51)),
    authorizedPubkey: USER.publicKey,
  });
  const under = built([advance, memo('a')], { signers: [USER] });
  t.match(parse({ transaction: under }), { anchorKind: 'text', onDeath: 'never' });
});

t.test('the errors of an IDL come along, and nothing else of it', async (t) => {
  const idl = {
    version: '0.1.0',
    name: 'shop',
    instructions: [{ name: 'buy' }],
    errors: [
      { code: 6_000, name: 'Closed', msg: 'The shop is closed', extra: 1 },
      { code: 6_001, name: 'Empty' },
    ],
  };
  t.strictSame(parse({ instructions: [hello], idl }).request['errors'], [
    { code: 6_000, name: 'Closed', msg: 'The shop is closed' },
    { code: 6_001, name: 'Empty' },
  ]);
  for (const empty of [{}, { errors: [] }]) {
    t.notOk('errors' in parse({ instructions: [hello], idl: empty }).request);
  }
  t.match(
    refusal({ instructions: [hello], idl: { errors: [{ code: 'x', name: 'X' }] } }),
    /^invalid `idl.errors.0.code`/,
  );
  t.match(refusal({ instructions: [hello], idl: 5 }), 'invalid `idl`: expected an object, not a number');
});

t.test('what is no request', async (t) => {
  const either = 'Either `transaction` or `instructions` must be given, and not both';
  const broken = (over: object) => ({ instructions: [{ ...hello, ...over }] });
  const account = { pubkey: relayer, is_signer: false, is_writable: true };
  const stranger = USER.publicKey.toBase58();
  const cases: [unknown, string | RegExp][] = [
    [{}, either],
    [{ instructions: [] }, either],
    [{ transaction: null, instructions: null }, either],
    [{ transaction: built([memo('a')]), instructions: [hello] }, either],
    [null, 'expected an object, not null'],
    [[], 'expected an object, not a list'],
    [{ instructions: {} }, 'invalid `instructions`: expected a list, not an object'],
    [{ transaction: 5 }, 'invalid `transaction`: expected a string, not a number'],
    [{ instruction: [] }, 'unknown field `instruction`, did you mean `instructions`?'],
    [{ signers: [] }, 'unknown field `signers`: the others sign before, in `transaction`'],
    [{ recent_blockhash: 'x' }, 'unknown field `recent_blockhash`: a relayer takes the latest one'],
    [{ fee_payer: 'x' }, 'unknown field `fee_payer`: the relayer pays'],
    [
      { instructions: [hello], valid_until: 'soon' },
      'Invalid validUntil datetime format: valid_until must be as 2027-01-31T00:00:00Z',
    ],
    [
      { instructions: [hello], valid_until: '2026-01-01T00:00:00Z' },
      'The validUntil time cannot be in the past: valid_until is 2026-01-01T00:00:00.000Z, and it is 2026-01-01T00:00:00.000Z',
    ],
    [{ instructions: Array.from({ length: 65 }, () => hello) }, 'invalid `instructions`: expected at most 64 entries'],
    [broken({ program_id: '' }), 'invalid `instructions.0.program_id`: expected 32 bytes in base58'],
    [broken({ program_id: ` ${relayer}` }), /^invalid `instructions.0.program_id`/],
    [broken({ program_id: undefined }), /`instructions.0.program_id`/],
    [broken({ data: 'no base64!' }), 'invalid `instructions.0.data`: expected base64'],
    [
      broken({ data: Buffer.alloc(1_233).toString('base64') }),
      'invalid `instructions.0.data`: expected at most 1232 bytes',
    ],
    [broken({ accounts: [{ ...account, pubkey: 'x' }] }), /^invalid `instructions.0.accounts.0.pubkey`/],
    [broken({ accounts: [{ pubkey: relayer }] }), 'missing field `instructions.0.accounts.0.is_signer`'],
    [
      broken({ accounts: Array.from({ length: 65 }, () => account) }),
      /^invalid `instructions.0.accounts`: .*at most 64/,
    ],
    [broken({ signer: true }), /^invalid `instructions.0`: unknown field `signer`/],
    [
      broken({ accounts: [{ pubkey: stranger, is_signer: true, is_writable: false }] }),
      `invalid \`instructions.0\`: ${stranger} cannot sign, only the relayer can; give \`transaction\``,
    ],
    [
      broken({ data: Buffer.alloc(1_100).toString('base64') }),
      'The instructions make a transaction of 1270 bytes, more than the 1232 of Solana',
    ],
    [broken({ program_id: relayer }), 'Malformed transaction: instruction 0 calls the payer'],
    [
      { instructions: Array.from({ length: 5 }, (_, part) => ({ ...hello, accounts: strangers(part * 64) })) },
      'Malformed transaction: it has 322 accounts, and 256 are the most',
    ],
  ];
  for (const [body, said] of cases) {
    const told = refusal(body);
    t.match(told, said);
    if (typeof said === 'string') t.equal(told, said);
  }
});

t.test('what sets the same twice of the compute budget is no request', async (t) => {
  const set = {
    limit: ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 }),
    price: ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
    heap: ComputeBudgetProgram.requestHeapFrame({ bytes: 32_768 }),
  };
  const all = Object.values(set);
  t.equal(refusal({ instructions: all.map(onWire) }), 'taken');
  for (const [name, one] of Object.entries(set)) {
    const twice = [...all, memo('a'), one];
    const said = /^Instruction 5 \(program ComputeBudget\w+\) sets what instruction \d has set already/;
    t.match(refusal({ instructions: twice.map(onWire) }), said, name);
    t.match(refusal({ transaction: built(twice) }), said, name);
    t.throws(() => readPartlySignedTransaction(built(twice), relayerAccount()), said, name);
  }
});

/** 64 accounts that no other instruction names. */
function strangers(from: number) {
  return Array.from({ length: 64 }, (_, index) => {
    const key = Buffer.alloc(32, 1);
    key.writeUInt32LE(from + index);
    return { pubkey: new PublicKey(key).toBase58(), is_signer: false, is_writable: false };
  });
}

t.test('bytes that are no transaction, or not of one that can be sent', async (t) => {
  const bytes = Buffer.from(built([memo('a', USER)], { signers: [USER] }), 'base64');
  const with_ = (change: (copy: Buffer) => Buffer) => change(Buffer.from(bytes)).toString('base64');
  const cases: [string, string][] = [
    ['zero signatures', with_((copy) => Buffer.concat([Buffer.from([0]), copy.subarray(129)]))],
    [
      'one signature of two',
      with_((copy) => Buffer.concat([Buffer.from([1]), copy.subarray(1, 65), copy.subarray(129)])),
    ],
    [
      'a signature too many',
      with_((copy) => Buffer.concat([Buffer.from([3]), copy.subarray(1, 65), copy.subarray(1)])),
    ],
    ['a byte too many', with_((copy) => Buffer.concat([copy, Buffer.from([0])]))],
    ['a byte too few', with_((copy) => copy.subarray(0, -1))],
    ['version 1', with_((copy) => Buffer.concat([Buffer.from([0x81]), copy]))],
    ['1233 bytes', Buffer.alloc(1_233, 1).toString('base64')],
    ['no bytes', ''],
    ['base64 without its padding', bytes.toString('base64url')],
    ['other base64', `${bytes.toString('base64')}\n`],
    ['no base64', 'not base64'],
  ];
  for (const [what, transaction] of cases) t.match(refusal({ transaction }), /^Malformed transaction: /, what);
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = with_((copy) => {
      copy[at] = (copy[at] ?? 0) ^ 0xff;
      return copy;
    });
    const told = refusal({ transaction: changed });
    const isOwnSignature = at >= 1 && at < 65;
    t.equal(told === 'taken', isOwnSignature, `byte ${at}: ${told}`);
    t.notMatch(told, /^[A-Z_]+ \d/, 'never a fault of ours');
  }
});

t.test('all others have signed, and signed these bytes', async (t) => {
  const third = keypair(33);
  const signed = (signers: Keypair[]) => built([memo('a', USER, third)], { signers });
  t.equal(refusal({ transaction: signed([USER, third]) }), 'taken');
  const missing = `The signature of ${third.publicKey.toBase58()} is missing`;
  t.equal(refusal({ transaction: signed([USER]) }), missing);
  const bytes = Buffer.from(signed([USER, third]), 'base64');
  bytes.copy(bytes, 129, 65, 129);
  t.equal(
    refusal({ transaction: bytes.toString('base64') }),
    `The signature of ${third.publicKey.toBase58()} is wrong`,
  );
  const nobody = new TransactionInstruction({
    programId: memo('').programId,
    data: Buffer.from('a'),
    keys: [{ pubkey: new PublicKey(Buffer.alloc(32, 255)), isSigner: true, isWritable: false }],
  });
  const impossible = Buffer.from(built([nobody]), 'base64');
  impossible.fill(1, 65, 129);
  t.match(
    refusal({ transaction: impossible.toString('base64') }),
    /^The signature of \w+ is wrong$/,
    'a key that is none',
  );
});

t.test('who signs after the relayer may be missing, and not wrong', async (t) => {
  const unfinished = built([memo('a', USER)]);
  t.equal(readPartlySignedTransaction(unfinished, relayerAccount()).message.signers, 2);
  const wrong = Buffer.from(unfinished, 'base64').fill(7, 65, 129).toString('base64');
  t.throws(() => readPartlySignedTransaction(wrong, relayerAccount()), {
    code: 'INVALID_REQUEST',
    message: /is wrong$/,
  });
  t.throws(() => readPartlySignedTransaction('x', relayerAccount()), {
    code: 'INVALID_REQUEST',
    message: /^Malformed/,
  });
  t.throws(() => readPartlySignedTransaction(unfinished, relayerAccount({ max_signatures: 1 })), {
    code: 'INVALID_REQUEST',
  });
});

t.test('a message of version 0 is taken, under the same rules', async (t) => {
  const versioned = new VersionedTransaction(
    new TransactionMessage({
      payerKey: RELAYER.publicKey,
      recentBlockhash: keyOf(7),
      instructions: [memo('a', USER)],
    }).compileToV0Message([]),
  );
  versioned.sign([USER]);
  const transaction = Buffer.from(versioned.serialize()).toString('base64');
  t.match(parse({ transaction }), { onDeath: 'end' });
  for (const [name, real] of Object.entries(realTransactions)) {
    const told = refusal({ transaction: Buffer.from(real.serialize()).toString('base64') });
    t.match(told, /^Policy violation: Fee payer \w+ does not match relayer address/, name);
  }
});

t.test('policies hold before anything else is looked at, in the reference’s words and order', async (t) => {
  const [MEMO, other] = [hello.program_id, keyOf(9)];
  const transaction = built([memo('a', USER)]);
  const cases: [JsonObject, RegExp][] = [
    [{ allowed_accounts: [relayer] }, /^Policy violation: Account \w+ not allowed$/],
    [
      { disallowed_accounts: [MEMO], allowed_programs: [other] },
      /^Policy violation: Account \w+ is explicitly disallowed$/,
    ],
    [{ allowed_programs: [other], max_signatures: 1 }, new RegExp(`^Policy violation: Program ${MEMO} not allowed$`)],
    [{ max_signatures: 1, max_tx_data_size: 5 }, /^Policy violation: Transaction requires 2 signatures/],
    [{ max_tx_data_size: 5 }, /^Policy violation: Transaction size \d+ exceeds maximum allowed 5$/],
    [{}, /is missing$/],
  ];
  for (const [policies, said] of cases) t.match(refusal({ transaction }, policies), said);
  for (const [policies, said] of cases.filter(([{ max_signatures: most }]) => most === undefined).slice(0, -1)) {
    t.match(refusal({ instructions: [hello] }, policies), said);
  }
  const taking = SystemProgram.transfer({ fromPubkey: RELAYER.publicKey, toPubkey: USER.publicKey, lamports: 1 });
  const drained = 'Policy violation: Lamports transfers are not allowed from the relayer account';
  for (const body of [{ transaction: built([taking]) }, { instructions: [onWire(taking)] }]) {
    t.equal(refusal(body, { own_funds: 'deny' }), drained);
    t.equal(refusal(body), 'taken');
    t.match(parse(body).request, { spends: { lamports: 1 } });
  }
  t.equal(refusal({ transaction: built([taking, memo('a', USER)], { signers: [USER] }) }), drained);
});

t.test('who is to be paid by users takes transactions only', async (t) => {
  const told =
    'User-paid fees require a pre-built transaction. Use prepareTransaction RPC method first to build the transaction from instructions.';
  for (const policies of [{ fee_payment_strategy: 'user' }, { fee_payment_strategy: null }]) {
    t.equal(refusal({ instructions: [hello] }, policies), told);
  }
});

t.test('stored requests and fields are parsed on the way out', async (t) => {
  t.strictSame(readStoredRequest({ transaction: 'AQ==' }), { transaction: 'AQ==' });
  t.throws(() => readStoredRequest({ transaction: 'AQ==', fee: 1 }), /fee/);
  t.equal(readChainFields({}), undefined, 'before it is prepared');
  const fields = { message: 'AQ==', signatures: [], last_valid_block_height: null, slot: '7', fee: '5000' };
  t.match(readChainFields(fields), { message: 'AQ==', last_valid_block_height: null });
  t.throws(() => readChainFields({ ...fields, fee: -1 }), /fee/);
});

t.test('instructions are compiled from what clients write', async (t) => {
  const wire = {
    program_id: keyOf(1),
    accounts: [{ pubkey: keyOf(2), is_signer: true, is_writable: false }],
    data: 'AQID',
  };
  t.strictSame(toTransactionInstructions([wire]), [
    new TransactionInstruction({
      programId: new PublicKey(keyOf(1)),
      keys: [{ pubkey: new PublicKey(keyOf(2)), isSigner: true, isWritable: false }],
      data: Buffer.from([1, 2, 3]),
    }),
  ]);
});

t.test('address', async (t) => {
  /** The public key of RFC 8032 section 7.1, test 1. */
  const RFC_8032_KEY = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');

  t.test('known keys have their known addresses', async (t) => {
    t.equal(addressOfPublicKey(RFC_8032_KEY), 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z');
    t.equal(addressOfPublicKey(new Uint8Array(32)), '1'.repeat(32), 'the System program');
    t.equal(addressOfPublicKey(Buffer.from('0000287fb4cd', 'hex')), '11233QC4', 'the Base58 draft’s vector');
  });

  t.test('another implementation agrees, and each address is one', async (t) => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        const zeros = key.findIndex((byte) => byte !== 0);
        const expected = zeros < 0 ? '1'.repeat(32) : encodeBase58(key);
        return addressOfPublicKey(key) === expected && isAddress(expected);
      }),
    );
    t.ok(isAddress(addressOfPublicKey(Buffer.alloc(32, 0xff))), 'the longest');
  });

  t.test('an address is 32 bytes, not just letters of the alphabet', async (t) => {
    for (const good of [
      'So11111111111111111111111111111111111111112',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    ]) {
      t.ok(isAddress(good), good);
    }
    for (const bad of [
      '',
      '1'.repeat(31),
      '1'.repeat(33),
      'z'.repeat(44),
      'So1111111111111111111111111111111111111112',
      'So1111111111111111111111111111111111111111O',
      ' So11111111111111111111111111111111111111112',
      '0xd75a980182b10ab7d54bfed3c964073a0ee172f3',
      'z'.repeat(1_000_000),
    ]) {
      t.notOk(isAddress(bad), bad.slice(0, 50));
    }
  });

  t.test('an address is its key, and what is not an address has none', async (t) => {
    t.same(addressBytes('FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z'), RFC_8032_KEY);
    t.throws(
      () => addressBytes('So1111111111111111111111111111111111111111O'),
      new TypeError('not an address: "So1111111111111111111111111111111111111111O"'),
    );
    t.throws(() => addressBytes('z'.repeat(1_000_000)), { name: 'TypeError', message: /^.{68}$/ });
  });
});

t.test('a transaction, and nothing else', async (t) => {
  t.strictSame(parseRequestForm(signOnlyRequestSchema, { transaction: 'AQAB' }), { transaction: 'AQAB' });
  for (const [body, said] of [
    [{}, 'missing field `transaction`'],
    [{ transaction: null }, 'invalid `transaction`: expected a string, not null'],
    [{ transaction: 'AQAB', instructions: [] }, 'unknown field `instructions`, expected `transaction`'],
    [{ unsigned_xdr: 'AAAA' }, /^unknown field `unsigned_xdr`/],
    ['AQAB', 'expected an object, not a string'],
  ] as const) {
    t.throws(() => parseRequestForm(signOnlyRequestSchema, body), { code: 'INVALID_REQUEST', message: said });
  }
});
