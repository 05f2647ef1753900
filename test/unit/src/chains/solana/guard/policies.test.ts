import { ComputeBudgetProgram, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { type Guarded, policyViolation, programsOf } from '../../../../../../src/chains/solana/guard/policies.ts';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import { MEMO_PROGRAMS, SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { keypair } from '../../../../../support/solana-messages.ts';
import { keyOf } from '../../../../../support/solana-node.ts';
import { built, memo, RELAYER } from '../../../../../support/solana-relayer.ts';

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
function said(policies: object, of: Partial<Guarded> = {}, instructions: TransactionInstruction[] = [transfer]) {
  const { message } = decodeTransaction(built(instructions));
  return policyViolation({ message, size: 200, ...of }, relayer, readPolicy({ ...policies }), { paysRent: false });
}

t.test('each policy in the reference’s words', async (t) => {
  const all = [relayer, user, to, SYSTEM_PROGRAM];
  const cases: [object, string | undefined, Partial<Guarded>?][] = [
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
