import t from 'tap';
import { readPolicy, stellarPolicies } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';

const { schema: policySchema, view: policyView } = stellarPolicies;
const minimumBalance = (policies: JsonObject) => readPolicy(policies).minBalance;

const ISSUER = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
const CONTRACT = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';
const INT64 = '9223372036854775807';
const UINT64 = '18446744073709551615';

const metadata = {
  kind: { classic: { code: 'USDC', issuer: ISSUER } },
  decimals: 7,
  canonical_asset_id: `USDC:${ISSUER}`,
};

const whole: JsonObject = {
  fee_payment_strategy: 'user',
  min_balance: INT64,
  max_fee: 2_147_483_647,
  timeout_seconds: INT64,
  concurrent_transactions: true,
  slippage_percentage: 0.5,
  fee_margin_percentage: 10,
  allowed_tokens: [
    {
      asset: `USDC:${ISSUER}`,
      metadata,
      max_allowed_fee: UINT64,
      swap_config: { slippage_percentage: 100, min_amount: 0, max_amount: UINT64, retain_min_amount: 1 },
    },
    { asset: CONTRACT, metadata: { ...metadata, kind: { contract: { contract_id: CONTRACT } } } },
    { asset: 'native', metadata: { ...metadata, kind: 'native' } },
    { asset: 'XLM' },
    { asset: '' },
  ],
  swap_config: {
    strategies: ['soroswap', 'order-book'],
    cron_schedule: '0 0 0 * * * 2030',
    min_balance_threshold: UINT64,
  },
};

const faultsOf = (policies: unknown) =>
  (policySchema.safeParse(policies).error?.issues ?? []).map(({ path, message }) => [path.join('.'), message]);

t.test('every field of the seed and the reference is known, and null means unset', async (t) => {
  t.same(policySchema.parse(whole), whole);
  t.same(policySchema.parse(policySchema.parse(whole)), whole, 'what is stored is accepted again');
  const unset = Object.fromEntries(Object.keys(whole).map((key) => [key, null]));
  t.same(policySchema.parse({ ...unset, fee_payment_strategy: 'relayer' }), { fee_payment_strategy: 'relayer' });
});

t.test('who pays must be said', async (t) => {
  const place = 'fee_payment_strategy';
  t.strictSame(faultsOf({}), [[place, 'Stellar policy is required. fee_payment_strategy is required']]);
  t.strictSame(faultsOf({ max_fee: null }), [[place, 'Stellar policy is required. fee_payment_strategy is required']]);
  t.strictSame(faultsOf({ max_fee: 1 }), [[place, 'Fee payment strategy is required']]);
  t.strictSame(faultsOf({ fee_payment_strategy: null, max_fee: 1, swap_config: { strategies: ['soroswap'] } }), [
    [place, 'Fee payment strategy is required'],
  ]);
});

t.test('each rule is broken with the reference’s text', async (t) => {
  const swap = (settings: unknown) => ({ swap_config: settings });
  for (const [policies, path, said] of [
    [
      { fee_margin_percentage: -0.5 },
      'fee_margin_percentage',
      'Negative fee margin percentage values are not accepted',
    ],
    [{ slippage_percentage: 100.1 }, 'slippage_percentage', 'Slippage percentage must be between 0 and 100'],
    [{ slippage_percentage: -1 }, 'slippage_percentage', 'Slippage percentage must be between 0 and 100'],
    [
      { fee_payment_strategy: 'relayer', ...swap({ strategies: ['soroswap'] }) },
      'swap_config',
      'Swap config only supported for user fee payment strategy',
    ],
    [swap({}), 'swap_config.strategies', 'Swap config must include at least one strategy'],
    [swap({ strategies: [] }), 'swap_config.strategies', 'Swap config must include at least one strategy'],
    [
      swap({ strategies: ['soroswap'], cron_schedule: '' }),
      'swap_config.cron_schedule',
      'Empty cron schedule is not accepted',
    ],
    [
      swap({ strategies: ['soroswap'], cron_schedule: '*/5 * * * *' }),
      'swap_config.cron_schedule',
      'Invalid cron schedule format',
    ],
  ] as const) {
    t.strictSame(faultsOf({ fee_payment_strategy: 'user', ...policies }), [[path, said]]);
  }
});

t.test('an asset that is none is told why', async (t) => {
  const identifier = "Asset identifier must be 'native', 'XLM', 'CODE:ISSUER', or a contract address";
  const brokenIssuer = ISSUER.replace(/N$/, 'M');
  for (const [asset, said] of [
    ['xlm', identifier],
    ['USDC', identifier],
    [ISSUER, identifier],
    [CONTRACT.replace(/A$/, 'B'), identifier],
    [`USDC:${ISSUER}:x`, identifier],
    [`:${ISSUER}`, 'Asset code must be between 1 and 12 characters'],
    [`ABCDEFGHIJKLM:${ISSUER}`, 'Asset code must be between 1 and 12 characters'],
    [`US-C:${ISSUER}`, 'Asset code must contain only alphanumeric characters'],
    [`USDC:${ISSUER}A`, 'Issuer address must be 56 characters long'],
    ['USDC:', 'Issuer address must be 56 characters long'],
    [`USDC:${CONTRACT}`, "Issuer address must start with 'G'"],
    [`USDC:${brokenIssuer}`, 'Issuer address must be a valid Stellar address'],
    [`USDC:${ISSUER.toLowerCase().replace('g', 'G')}`, 'Issuer address must be a valid Stellar address'],
  ] as const) {
    const policies = { fee_payment_strategy: 'user', allowed_tokens: [{ asset }] };
    t.strictSame(faultsOf(policies), [['allowed_tokens.0.asset', said]], asset);
  }
});

t.test('what is not of a field’s type or bounds is refused at its place', async (t) => {
  for (const [policies, path] of [
    [{ fee_payment_strategy: 'User' }, 'fee_payment_strategy'],
    [{ max_fee: 2_147_483_648 }, 'max_fee'],
    [{ max_fee: '1' }, 'max_fee'],
    [{ min_balance: '9223372036854775808' }, 'min_balance'],
    [{ timeout_seconds: -1 }, 'timeout_seconds'],
    [{ concurrent_transactions: 1 }, 'concurrent_transactions'],
    [{ allowed_tokens: [{}] }, 'allowed_tokens.0.asset'],
    [{ allowed_tokens: [{ asset: '', metadata: {} }] }, 'allowed_tokens.0.metadata.kind'],
    [{ allowed_tokens: [{ asset: '', metadata: { ...metadata, kind: 'other' } }] }, 'allowed_tokens.0.metadata.kind'],
    [{ allowed_tokens: [{ asset: '', max_allowed_fee: '18446744073709551616' }] }, 'allowed_tokens.0.max_allowed_fee'],
    [{ swap_config: { strategies: ['jupiter-swap'] } }, 'swap_config.strategies.0'],
  ] as const) {
    t.ok(
      faultsOf({ fee_payment_strategy: 'user', ...policies }).some(([at]) => at === path),
      path,
    );
  }
  t.match(faultsOf({ fee_payment_strategy: 'user', max_fees: 1 }), [
    ['', /^unknown field `max_fees`, did you mean `max_fee`/],
  ]);
});

t.test('answers show the default, integers with all digits, and null inside swap settings', async (t) => {
  t.equal(policyView({}), undefined, 'nothing set, nothing shown');
  t.strictSame(policyView({ fee_payment_strategy: 'relayer' }), {
    fee_payment_strategy: 'relayer',
    min_balance: 1_000_000n,
  });
  t.strictSame(Object.entries(policyView(whole) ?? {}), [
    ['fee_payment_strategy', 'user'],
    ['min_balance', BigInt(INT64)],
    ['max_fee', 2_147_483_647],
    ['timeout_seconds', BigInt(INT64)],
    ['concurrent_transactions', true],
    ['slippage_percentage', 0.5],
    ['fee_margin_percentage', 10],
    [
      'allowed_tokens',
      [
        {
          asset: `USDC:${ISSUER}`,
          metadata,
          max_allowed_fee: BigInt(UINT64),
          swap_config: {
            slippage_percentage: 100,
            min_amount: 0n,
            max_amount: BigInt(UINT64),
            retain_min_amount: 1n,
          },
        },
        { asset: CONTRACT, metadata: { ...metadata, kind: { contract: { contract_id: CONTRACT } } } },
        { asset: 'native', metadata: { ...metadata, kind: 'native' } },
        { asset: 'XLM' },
        { asset: '' },
      ],
    ],
    [
      'swap_config',
      {
        strategies: ['soroswap', 'order-book'],
        cron_schedule: '0 0 0 * * * 2030',
        min_balance_threshold: BigInt(UINT64),
      },
    ],
  ]);
  t.match(policyView({ fee_payment_strategy: 'user', swap_config: { strategies: ['soroswap'] } }), {
    swap_config: { strategies: ['soroswap'], cron_schedule: null, min_balance_threshold: null },
  });
});

t.test('what stays on the account', async (t) => {
  t.equal(minimumBalance({ fee_payment_strategy: 'user' }), 1_000_000n);
  t.equal(minimumBalance({ fee_payment_strategy: 'relayer', min_balance: 0 }), 0n);
  t.equal(minimumBalance({ fee_payment_strategy: 'relayer', min_balance: '9007199254740993' }), 9_007_199_254_740_993n);
});
