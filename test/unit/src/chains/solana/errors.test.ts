import t from 'tap';
import {
  classifyBroadcastError,
  isPayerUnderfunded,
  transactionErrorName,
  transactionErrorText,
} from '../../../../../src/chains/solana/errors.ts';
import { rpcDialect } from '../../../../../src/chains/solana/rpc-error-dialect.ts';
import type { Json, JsonObject } from '../../../../../src/domain/json/json.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { judgeRpcFailure } from '../../../../../src/egress/rpc/rpc-verdict.ts';
import { errorOf, textOf } from '../../../../doubles/svm/transaction-error.ts';

/** A failed preflight in agave's form (rpc/src/rpc.rs, `SendTransactionPreflightFailure`). */
function preflight(err: Json, logs: string[] = []): RpcError {
  const data: JsonObject = { err, logs, accounts: null, unitsConsumed: 0, returnData: null, innerInstructions: null };
  const text = `Transaction simulation failed: ${textOf(err as never)}`;
  return new RpcError('node', text, { code: -32_002, data });
}

const kindOf = (error: RpcError) => classifyBroadcastError(error).outcome.kind;

/** Every runtime error without details, in the order of `TransactionError`. */
const NAMES = Array.from({ length: 39 }, (_, index) => String(errorOf(index))).filter(
  (one) => !one.startsWith('Unknown'),
);

t.test('each error of a preflight', async (t) => {
  t.ok(NAMES.length > 30, `${NAMES.length} errors`);
  const others: Record<string, string> = {
    AlreadyProcessed: 'accepted',
    BlockhashNotFound: 'lapsed',
    AccountNotFound: 'unfunded',
    InsufficientFundsForFee: 'unfunded',
    AccountInUse: 'busy',
    ClusterMaintenance: 'busy',
    WouldExceedMaxBlockCostLimit: 'busy',
    WouldExceedMaxAccountCostLimit: 'busy',
    WouldExceedAccountDataBlockLimit: 'busy',
    WouldExceedMaxVoteCostLimit: 'busy',
    ResanitizationNeeded: 'busy',
    ProgramCacheHitMaxLimit: 'busy',
    CommitCancelled: 'busy',
  };
  for (const name of NAMES) {
    const { outcome, hasJudged } = classifyBroadcastError(preflight(name));
    t.equal(outcome.kind, others[name] ?? 'refused', name);
    t.ok(hasJudged, name);
  }
  for (const [err, kind] of [
    [{ InstructionError: [0, { Custom: 1 }] }, 'refused'],
    [{ InstructionError: [0, 'InsufficientFunds'] }, 'refused'],
    [{ DuplicateInstruction: 2 }, 'refused'],
    [{ InsufficientFundsForRent: { account_index: 0 } }, 'unfunded'],
    [{ InsufficientFundsForRent: { account_index: 1 } }, 'refused'],
    [{ ProgramExecutionTemporarilyRestricted: { account_index: 3 } }, 'busy'],
  ] as const) {
    t.equal(kindOf(preflight(err as unknown as Json)), kind, JSON.stringify(err));
  }
});

t.test('what a gateway leaves of a preflight', async (t) => {
  const bare = (text: string, data?: Json) =>
    classifyBroadcastError(
      new RpcError('node', `Transaction simulation failed: ${text}`, {
        code: -32_002,
        ...(data === undefined ? {} : { data }),
      }),
    );
  for (const data of [undefined, null, 'none', {}, { logs: [] }, { err: null }] satisfies (Json | undefined)[]) {
    t.strictSame(bare('This transaction has already been processed', data), {
      outcome: { kind: 'accepted' },
      hasJudged: true,
    });
    t.match(bare('Blockhash not found', data), { outcome: { kind: 'lapsed' }, hasJudged: true });
    t.match(bare('Error processing Instruction 0', data), { outcome: { kind: 'unknown' }, hasJudged: false });
  }
});

t.test('every other error of a node', async (t) => {
  const cases: [number, string, string, boolean][] = [
    [-32_003, 'Transaction signature verification failure', 'refused', true],
    [-32_006, 'Transaction precompile verification failure InvalidAccountIndex', 'refused', true],
    [-32_013, 'Transaction signature length mismatch', 'refused', true],
    [-32_015, 'Transaction version (1) is not supported by the requesting client.', 'refused', true],
    [-32_602, 'invalid transaction: Transaction failed to sanitize accounts offsets correctly', 'refused', true],
    [-32_602, 'base64 encoded solana_transaction::Transaction too large: 1684 bytes (max: 1644)', 'refused', true],
    [-32_005, 'Node is behind by 150 slots', 'busy', false],
    [-32_005, 'Node is unhealthy', 'busy', false],
    [-32_016, 'Minimum context slot has not been reached', 'busy', false],
    [-32_601, 'Method not found', 'busy', false],
    [429, 'Too many requests for a specific RPC call', 'busy', false],
    [-32_603, 'Internal error', 'unknown', false],
    [-32_004, 'Block not available for slot 1', 'unknown', false],
    [-32_000, 'already been processed', 'unknown', false],
  ];
  for (const [code, text, kind, hasJudged] of cases) {
    const told = classifyBroadcastError(new RpcError('node', text, { code }));
    t.strictSame(told, { outcome: { kind, reason: text }, hasJudged }, text);
  }
});

t.test('no answer says nothing, but for being turned away', async (t) => {
  for (const kind of ['timeout', 'transport', 'http', 'malformed', 'blocked'] as const) {
    const told = classifyBroadcastError(new RpcError(kind, 'Blockhash not found', { code: -32_002 }));
    t.strictSame(told, { outcome: { kind: 'unknown', reason: 'Blockhash not found' }, hasJudged: false });
  }
  t.equal(kindOf(new RpcError('http', 'HTTP 503', { status: 503 })), 'unknown');
  for (const away of [new RpcError('http', 'HTTP 429', { status: 429 }), new RpcError('limited', 'asked to wait')]) {
    t.match(classifyBroadcastError(away), { outcome: { kind: 'busy' }, hasJudged: false });
  }
  t.equal(kindOf(new RpcError('node', 'no code')), 'unknown');
});

t.test('a foreign text is shown within bounds and in one line', async (t) => {
  const told = classifyBroadcastError(new RpcError('node', `a\u001b[31m\n${'x'.repeat(100_000)}`, { code: -32_602 }));
  t.ok(told.outcome.kind === 'refused' && told.outcome.reason.length < 600);
  t.ok(told.outcome.kind === 'refused' && /^a \[31m x+/.test(told.outcome.reason));
  t.ok(transactionErrorText({ Odd: { deep: 'y'.repeat(10_000) } }).length < 600);
  const errors = [{ code: 1, name: 'N', msg: 'z'.repeat(10_000) }];
  t.ok(transactionErrorText({ InstructionError: [0, { Custom: 1 }] }, { logs: [], programs: [], errors }).length < 600);
});

const PROGRAM = 'Prog1111111111111111111111111111';
const context = { logs: [] as string[], programs: ['A', PROGRAM], errors: [] };
const custom = (code: number) => ({ InstructionError: [1, { Custom: code }] });

t.test('a program’s own error is told by the request’s IDL, by what Anchor logged, or by its number', async (t) => {
  const where = `Instruction 2 (program ${PROGRAM}) failed`;
  const anchor = [
    'Program log: AnchorError occurred. Error Code: First. Error Number: 6000. Error Message: The first.',
    'Program log: AnchorError thrown in programs/x/src/lib.rs:12. Error Code: Second. Error Number: 6001. Error Message: The second.',
    `Program ${PROGRAM} failed: custom program error: 0x1771`,
  ];
  const idl = [
    { code: 6_001, name: 'Ours', msg: 'What the IDL says' },
    { code: 6_002, name: 'Bare' },
  ];
  t.equal(
    transactionErrorText(custom(6_001), { ...context, logs: anchor, errors: idl }),
    `${where}: Ours (6001): What the IDL says`,
  );
  t.equal(transactionErrorText(custom(6_002), { ...context, logs: anchor, errors: idl }), `${where}: Bare (6002)`);
  t.equal(transactionErrorText(custom(6_001), { ...context, logs: anchor }), `${where}: Second (6001): The second.`);
  t.match(
    transactionErrorText(custom(6_000), { ...context, logs: anchor }),
    /custom program error 0x1770 \(6000\)/,
    'another’s log',
  );
  t.equal(transactionErrorText(custom(1), context), `${where}: custom program error 0x1 (1)`);
  const logs = ['Program log: Instruction: Transfer', 'Program log: Error: insufficient funds', 'Program data: AQ=='];
  t.equal(
    transactionErrorText(custom(1), { ...context, logs }),
    `${where}: custom program error 0x1 (1), log: Error: insufficient funds`,
  );
});

t.test('the runtime’s errors in words', async (t) => {
  const cases: [Json, string][] = [
    ['BlockhashNotFound', 'BlockhashNotFound: its blockhash is not known, or too old'],
    ['CallChainTooDeep', 'CallChainTooDeep'],
    [{ DuplicateInstruction: 2 }, 'DuplicateInstruction'],
    [
      { InsufficientFundsForRent: { account_index: 2 } },
      'InsufficientFundsForRent ({"account_index":2}): an account would be left with less than it must have (rent)',
    ],
    [{ InstructionError: [7, 'InvalidAccountData'] }, 'Instruction 8 failed: InvalidAccountData'],
    [{ InstructionError: [0, { BorshIoError: 'Unknown' }] }, 'Instruction 1 (program A) failed: BorshIoError'],
    [{ InstructionError: 'odd' }, 'InstructionError'],
    [{}, 'unknown error'],
    [17, '17'],
  ];
  for (const [error, text] of cases) t.equal(transactionErrorText(error, context), text);
  t.equal(transactionErrorText('AccountInUse'), 'AccountInUse');
  t.equal(transactionErrorName({ InstructionError: [0, 'GenericError'] }), 'InstructionError');
});

t.test('it is the fee payer that is too poor', async (t) => {
  t.ok(isPayerUnderfunded('AccountNotFound'));
  t.ok(isPayerUnderfunded('InsufficientFundsForFee'));
  t.ok(isPayerUnderfunded({ InsufficientFundsForRent: { account_index: 0 } }));
  for (const other of [
    { InsufficientFundsForRent: { account_index: 1 } },
    { InsufficientFundsForRent: null },
    'InsufficientFundsForRent',
    { InstructionError: [0, 'InsufficientFunds'] },
    'ProgramAccountNotFound',
  ]) {
    t.notOk(isPayerUnderfunded(other), JSON.stringify(other));
  }
});

t.test('dialect', async (t) => {
  const judge = (code: number, text = '') => judgeRpcFailure(new RpcError('node', text, { code }), rpcDialect);

  t.test('a failed simulation, whatever it says, is no fault of the endpoint', async (t) => {
    const why = ['Blockhash not found', 'custom program error: 0x1', 'This transaction has already been processed'];
    for (const text of [...why, 'request timed out', 'too many requests', 'insufficient funds for rent']) {
      const verdict = judge(-32_002, `Transaction simulation failed: ${text}`);
      t.same(verdict, { meaning: 'state', retry: 'final', countsAgainst: false, overload: false }, text);
    }
  });

  t.test(
    'what one node lacks is asked of others, what no node takes is not, and who is behind is to blame',
    async (t) => {
      for (const code of [-32_001, -32_004, -32_007, -32_008, -32_009, -32_010, -32_011, -32_014, -32_016]) {
        t.match(judge(code), { retry: 'elsewhere', countsAgainst: false }, String(code));
      }
      for (const code of [-32_003, -32_006, -32_013, -32_015, -32_602]) {
        t.match(judge(code), { meaning: 'permanent', countsAgainst: false }, String(code));
      }
      t.match(judge(-32_005, 'Node is behind by 150 slots'), { retry: 'again', countsAgainst: true, overload: false });
      const storage = judge(-32_019, 'Failed to query long-term storage; please try again');
      t.match(storage, { meaning: 'endpoint', retry: 'again', countsAgainst: true });
      t.match(
        judge(-32_005, 'rate limit exceeded'),
        { countsAgainst: true, overload: true },
        'a gateway has the same code',
      );
    },
  );
});
