import t from 'tap';
import { networkSchema } from '../../../../../src/chains/solana/configuration/network.ts';
import { networkPolicyFault, solanaPolicies } from '../../../../../src/chains/solana/configuration/policy.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';

t.test('an entry of nothing but endpoints is enough', async (t) => {
  t.same(networkSchema.parse({}), { average_blocktime_ms: 400 });
  const whole = {
    average_blocktime_ms: 200,
    is_testnet: true,
    tags: ['fast'],
    explorer_urls: ['https://explorer.test?cluster=custom'],
  };
  t.same(networkSchema.parse(whole), whole);
});

t.test('what no Solana network can have is refused', async (t) => {
  for (const [entry, said] of [
    [{ chain_id: 1 }, /chain_id/],
    [{ passphrase: 'Public' }, /passphrase/],
    [{ average_blocktime_ms: 0 }, /average_blocktime_ms/],
    [{ average_blocktime_ms: 2.5 }, /average_blocktime_ms/],
    [{ is_testnet: 'yes' }, /is_testnet/],
    [{ tags: [1] }, /tags/],
    [{ explorer_urls: ['nowhere'] }, /explorer_urls/],
  ] as const) {
    t.match(networkSchema.safeParse(entry).error?.message, said);
  }
});

t.test('policy', async (t) => {
  const { schema: policySchema, view: policyView } = solanaPolicies;
  const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';
  const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const INT64 = '9223372036854775807';
  const UINT64 = '18446744073709551615';

  const whole: JsonObject = {
    allowed_programs: [TOKEN_PROGRAM],
    allowed_accounts: [WRAPPED_SOL, TOKEN_PROGRAM],
    max_signatures: 2_147_483_647,
    max_tx_data_size: 0,
    min_balance: INT64,
    allowed_tokens: [
      {
        mint: WRAPPED_SOL,
        decimals: 9,
        symbol: 'SOL',
        max_allowed_fee: UINT64,
        swap_config: { slippage_percentage: 0.5, min_amount: 1, max_amount: 0, retain_min_amount: UINT64 },
      },
    ],
    fee_payment_strategy: 'user',
    fee_margin_percentage: 10.5,
    max_allowed_fee_lamports: 0,
    swap_config: {
      strategy: 'jupiter-swap',
      cron_schedule: '0 0 */6 * * *',
      min_balance_threshold: UINT64,
      jupiter_swap_options: {
        priority_fee_max_lamports: 1,
        priority_level: 'veryHigh',
        dynamic_compute_unit_limit: true,
      },
    },
  };

  const faultsOf = (policies: unknown) =>
    (policySchema.safeParse(policies).error?.issues ?? []).map(({ path, message }) => [path.join('.'), message]);

  t.test('every field of the seed and the reference is known, and null means unset', async (t) => {
    t.same(policySchema.parse(whole), whole);
    t.same(policySchema.parse(policySchema.parse(whole)), whole, 'what is stored is accepted again');
    const { allowed_accounts: _, ...rest } = whole;
    t.same(policySchema.parse({ ...rest, disallowed_accounts: [] }), { ...rest, disallowed_accounts: [] });
    const keys = [...Object.keys(whole), 'disallowed_accounts'];
    t.same(policySchema.parse(Object.fromEntries(keys.map((key) => [key, null]))), {});
    const nested = { allowed_tokens: [{ mint: WRAPPED_SOL, decimals: null }], swap_config: { strategy: null } };
    t.same(policySchema.parse(nested), { allowed_tokens: [{ mint: WRAPPED_SOL }], swap_config: {} });
  });

  t.test('each rule is broken with the reference’s text', async (t) => {
    const swap = (settings: unknown) => ({ swap_config: settings });
    const jupiter = (options: unknown) => swap({ strategy: 'jupiter-swap', jupiter_swap_options: options });
    for (const [policies, path, said] of [
      [{ allowed_programs: ['x'] }, 'allowed_programs.0', 'Public key must be a valid Solana address'],
      [{ disallowed_accounts: [''] }, 'disallowed_accounts.0', 'Public key must be a valid Solana address'],
      [
        { allowed_tokens: [{ mint: 'z'.repeat(44) }] },
        'allowed_tokens.0.mint',
        'Public key must be a valid Solana address',
      ],
      [
        { allowed_accounts: [], disallowed_accounts: [] },
        'disallowed_accounts',
        'allowed_accounts and disallowed_accounts cannot be both present',
      ],
      [
        { fee_margin_percentage: -1 },
        'fee_margin_percentage',
        'Negative fee margin percentage values are not accepted',
      ],
      [
        { fee_payment_strategy: 'relayer', ...swap({}) },
        'swap_config',
        'Swap config only supported for user fee payment strategy',
      ],
      [swap({ cron_schedule: '' }), 'swap_config.cron_schedule', 'Empty cron schedule is not accepted'],
      [swap({ cron_schedule: '0 0 * * *' }), 'swap_config.cron_schedule', 'Invalid cron schedule format'],
      [
        swap({ strategy: 'jupiter-ultra', jupiter_swap_options: {} }),
        'swap_config.jupiter_swap_options',
        'JupiterSwap options are only valid for JupiterSwap strategy',
      ],
      [
        swap({ jupiter_swap_options: {} }),
        'swap_config.jupiter_swap_options',
        'JupiterSwap options are only valid for JupiterSwap strategy',
      ],
      [
        jupiter({ priority_fee_max_lamports: 0, priority_level: 'high' }),
        'swap_config.jupiter_swap_options.priority_fee_max_lamports',
        'Max lamports must be greater than 0',
      ],
      [
        jupiter({ priority_fee_max_lamports: 1, priority_level: '' }),
        'swap_config.jupiter_swap_options.priority_level',
        'Priority level cannot be empty',
      ],
      [
        jupiter({ priority_fee_max_lamports: 1, priority_level: 'low' }),
        'swap_config.jupiter_swap_options.priority_level',
        'Priority level must be one of: medium, high, veryHigh',
      ],
      [
        jupiter({ priority_level: 'medium' }),
        'swap_config.jupiter_swap_options.priority_fee_max_lamports',
        'Priority Fee Max lamports must be set if priority level is set',
      ],
      [
        jupiter({ priority_fee_max_lamports: 1 }),
        'swap_config.jupiter_swap_options.priority_level',
        'Priority level must be set if priority fee max lamports is set',
      ],
      [
        { allowed_tokens: [{ mint: WRAPPED_SOL, swap_config: { slippage_percentage: 101 } }] },
        'allowed_tokens.0.swap_config.slippage_percentage',
        'Slippage percentage must be between 0 and 100',
      ],
    ] as const) {
      t.strictSame(faultsOf(policies), [[path, said]]);
    }
  });

  t.test('what is not of a field’s type or bounds is refused at its place', async (t) => {
    for (const [policies, path] of [
      [[], ''],
      ['none', ''],
      [{ max_signatures: 2_147_483_648 }, 'max_signatures'],
      [{ max_signatures: -1 }, 'max_signatures'],
      [{ max_tx_data_size: 1.5 }, 'max_tx_data_size'],
      [{ min_balance: '9223372036854775808' }, 'min_balance'],
      [{ max_allowed_fee_lamports: -1 }, 'max_allowed_fee_lamports'],
      [{ fee_payment_strategy: 'both' }, 'fee_payment_strategy'],
      [{ fee_margin_percentage: '1' }, 'fee_margin_percentage'],
      [{ allowed_accounts: WRAPPED_SOL }, 'allowed_accounts'],
      [{ allowed_tokens: [{ decimals: 9 }] }, 'allowed_tokens.0.mint'],
      [{ allowed_tokens: [{ mint: WRAPPED_SOL, decimals: 256 }] }, 'allowed_tokens.0.decimals'],
      [{ swap_config: { strategy: 'orca' } }, 'swap_config.strategy'],
      [{ swap_config: { min_balance_threshold: '18446744073709551616' } }, 'swap_config.min_balance_threshold'],
      [
        { swap_config: { strategy: 'jupiter-swap', jupiter_swap_options: { priority_fee_max_lamports: 'all' } } },
        'swap_config.jupiter_swap_options.priority_fee_max_lamports',
      ],
    ] as const) {
      t.ok(
        faultsOf(policies).some(([at]) => at === path),
        path,
      );
    }
    t.match(faultsOf({ max_sigs: 1 }), [['', /^unknown field `max_sigs`, (expected one of|did you mean) `/]]);
    t.match(faultsOf({ swap_config: { strategies: [] } }), [
      ['swap_config', /^unknown field `strategies`, did you mean `strategy`/],
    ]);
    t.match(faultsOf({ allowed_tokens: [{ mint: WRAPPED_SOL, name: 'x' }] }), [['allowed_tokens.0', /field `name`/]]);
  });

  t.test('Jupiter is on one network only', async (t) => {
    const strategy = (name: string) => ({ swap_config: { strategy: name } });
    t.equal(networkPolicyFault(strategy('jupiter-swap'), 'mainnet-beta'), null);
    t.equal(
      networkPolicyFault(strategy('jupiter-swap'), 'devnet'),
      'JupiterSwap strategy is only supported on mainnet-beta',
    );
    t.equal(
      networkPolicyFault(strategy('jupiter-ultra'), 'localnet'),
      'JupiterUltra strategy is only supported on mainnet-beta',
    );
    t.equal(networkPolicyFault(strategy('noop'), 'devnet'), null);
    t.equal(networkPolicyFault({}, 'devnet'), null);
  });

  t.test('answers show defaults, integers with all digits, and null inside swap settings', async (t) => {
    t.equal(policyView({}), undefined, 'nothing set, nothing shown');
    t.strictSame(policyView({ max_signatures: 0 }), {
      max_signatures: 0,
      max_tx_data_size: 1232,
      min_balance: 10_000_000n,
    });
    t.strictSame(Object.entries(policyView(whole) ?? {}), [
      ['allowed_programs', [TOKEN_PROGRAM]],
      ['allowed_accounts', [WRAPPED_SOL, TOKEN_PROGRAM]],
      ['max_signatures', 2_147_483_647],
      ['max_tx_data_size', 0],
      ['min_balance', BigInt(INT64)],
      [
        'allowed_tokens',
        [
          {
            mint: WRAPPED_SOL,
            decimals: 9,
            symbol: 'SOL',
            max_allowed_fee: BigInt(UINT64),
            swap_config: {
              slippage_percentage: 0.5,
              min_amount: 1n,
              max_amount: 0n,
              retain_min_amount: BigInt(UINT64),
            },
          },
        ],
      ],
      ['fee_payment_strategy', 'user'],
      ['fee_margin_percentage', 10.5],
      ['max_allowed_fee_lamports', 0n],
      [
        'swap_config',
        {
          strategy: 'jupiter-swap',
          cron_schedule: '0 0 */6 * * *',
          min_balance_threshold: BigInt(UINT64),
          jupiter_swap_options: {
            priority_fee_max_lamports: 1n,
            priority_level: 'veryHigh',
            dynamic_compute_unit_limit: true,
          },
        },
      ],
    ]);
    const sparse = {
      disallowed_accounts: [WRAPPED_SOL],
      allowed_tokens: [{ mint: WRAPPED_SOL, swap_config: {} }, { mint: TOKEN_PROGRAM }],
      swap_config: { strategy: 'jupiter-swap', jupiter_swap_options: {} },
    };
    t.match(policyView(sparse), {
      disallowed_accounts: [WRAPPED_SOL],
      allowed_tokens: [
        {
          mint: WRAPPED_SOL,
          swap_config: { slippage_percentage: null, min_amount: null, max_amount: null, retain_min_amount: null },
        },
        { mint: TOKEN_PROGRAM },
      ],
      swap_config: {
        strategy: 'jupiter-swap',
        cron_schedule: null,
        min_balance_threshold: null,
        jupiter_swap_options: {
          priority_fee_max_lamports: null,
          priority_level: null,
          dynamic_compute_unit_limit: null,
        },
      },
    });
    t.match(policyView({ swap_config: {} }), { swap_config: { strategy: null, jupiter_swap_options: null } });
  });
});
