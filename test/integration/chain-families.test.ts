/**
 * One service with relayers of all three chain families. They are declared on built-in networks, listed and updated.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeAddress, encryptKeystoreJson } from 'ethers';
import t, { type Test } from 'tap';
import { newAccount } from '../doubles/stellar/ledger/account.ts';
import { keyToXdr } from '../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../doubles/stellar/ledger/entry-xdr.ts';
import { composeService } from '../support/composed-service.ts';
import { answersByMethod, type RpcDouble, startRpcDouble } from '../support/rpc-double.ts';
import { type StartedService, startAndFail } from '../support/service.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/** The secret key of RFC 8032 section 7.1, test 1, and its accounts. It is also a valid secp256k1 key. */
const SECRET_KEY = '0x9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const EVM_ADDRESS = computeAddress(SECRET_KEY).toLowerCase();
const SOLANA_ADDRESS = 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z';
const STELLAR_ADDRESS = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';

const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

interface Stage {
  workspace: Workspace;
  /** A double of a Stellar node. */
  stellar: RpcDouble;
  /** Writes the configuration file, with changed fields of the Solana relayer. */
  declare(solana?: object): Promise<void>;
}

async function stage(t: Test): Promise<Stage> {
  const sepolia = await startRpcDouble(
    answersByMethod({ eth_chainId: '0xaa36a7', eth_getTransactionCount: '0x0', eth_getBalance: '0xde0b6b3a7640000' }),
  );
  const devnet = await startRpcDouble(
    answersByMethod({
      getGenesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
      getBalance: { context: { slot: 1 }, value: 10_000_000_000 },
    }),
  );
  const entry = newAccount(STELLAR_ADDRESS, 70_000_000n, 9);
  const stellar = await startRpcDouble(
    answersByMethod({
      getNetwork: { passphrase: 'Test SDF Network ; September 2015', protocolVersion: 27 },
      getHealth: { status: 'healthy' },
      getLedgerEntries: {
        latestLedger: 77,
        entries: [{ key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') }],
      },
    }),
  );
  const workspace = await createWorkspace();
  t.teardown(() => Promise.all([sepolia.stop(), devnet.stop(), stellar.stop(), workspace.remove()]));

  const path = join(workspace.dir, 'config', 'keys', 'rfc8032.json');
  const passphrase = workspace.env['KEYSTORE_PASSPHRASE'] ?? '';
  await mkdir(join(workspace.dir, 'config', 'keys'));
  await writeFile(
    path,
    await encryptKeystoreJson({ address: EVM_ADDRESS, privateKey: SECRET_KEY }, passphrase, {
      scrypt: { N: 1024, r: 8, p: 1 },
    }),
  );
  const signer = {
    id: 'key',
    type: 'local',
    config: { path, passphrase: { type: 'env', value: 'KEYSTORE_PASSPHRASE' } },
  };
  const relayer = (id: string, type: string, network: string, url: string) => ({
    id,
    name: `On ${network}`,
    network,
    network_type: type,
    paused: false,
    signer_id: 'key',
    custom_rpc_urls: [url],
  });
  const declare = async (solana: object = {}): Promise<void> => {
    const relayers = [
      relayer('evm-1', 'evm', 'sepolia', sepolia.url),
      { ...relayer('solana-1', 'solana', 'devnet', devnet.url), ...solana },
      {
        ...relayer('stellar-1', 'stellar', 'testnet', stellar.url),
        policies: { fee_payment_strategy: 'relayer', concurrent_transactions: true },
      },
    ];
    const configuration = { relayers, signers: [signer], notifications: [], plugins: [] };
    await writeFile(join(workspace.dir, 'config', 'config.json'), JSON.stringify(configuration));
  };
  await declare();
  return { workspace, stellar, declare };
}

async function start(t: Test, { workspace }: Stage): Promise<StartedService> {
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  return service;
}

const relayers = '/api/v1/relayers';

t.test('relayers of all families stand side by side with the accounts of their key', async (t) => {
  const service = await start(t, await stage(t));
  const { status, body } = await service.request('GET', relayers);
  t.equal(status, 200);
  t.match(body.pagination, { total_items: 3 });
  const named = (id: string) => body.data.find((relayer: { id: string }) => relayer.id === id);
  t.match(named('evm-1'), { network_type: 'evm', network: 'sepolia', address: EVM_ADDRESS, system_disabled: false });
  t.match(named('solana-1'), {
    network_type: 'solana',
    network: 'devnet',
    address: SOLANA_ADDRESS,
    system_disabled: false,
  });
  t.notOk('policies' in named('solana-1'), 'nothing set, nothing shown');
  t.match(named('stellar-1'), {
    network_type: 'stellar',
    network: 'testnet',
    address: STELLAR_ADDRESS,
    system_disabled: false,
  });
  t.strictSame(named('stellar-1').policies, {
    fee_payment_strategy: 'relayer',
    min_balance: 1_000_000,
    concurrent_transactions: true,
  });
});

t.test('their policies are changed by the rules of their family, and outlive a restart', async (t) => {
  const scene = await stage(t);
  const service = await start(t, scene);
  const patch = (id: string, policies: unknown) => service.request('PATCH', `${relayers}/${id}`, { policies });

  const solana = {
    allowed_tokens: [{ mint: WRAPPED_SOL, decimals: 9, swap_config: { slippage_percentage: 0.5 } }],
    fee_margin_percentage: 10,
    max_signatures: 4,
  };
  const changed = await patch('solana-1', solana);
  t.equal(changed.status, 200);
  const shown = {
    max_signatures: 4,
    max_tx_data_size: 1232,
    min_balance: 10_000_000,
    allowed_tokens: [
      {
        mint: WRAPPED_SOL,
        decimals: 9,
        swap_config: { slippage_percentage: 0.5, min_amount: null, max_amount: null, retain_min_amount: null },
      },
    ],
    fee_margin_percentage: 10,
  };
  t.strictSame(changed.body.data.policies, shown);
  t.match(await patch('stellar-1', { max_fee: 2_147_483_647, concurrent_transactions: null }), {
    status: 200,
    body: { data: { policies: { fee_payment_strategy: 'relayer', min_balance: 1_000_000, max_fee: 2_147_483_647 } } },
  });

  for (const [id, policies, said] of [
    ['solana-1', { gas_price_cap: 1 }, /unknown field `gas_price_cap`, expected one of `allowed_programs`/],
    [
      'solana-1',
      { swap_config: { strategy: 'jupiter-swap' } },
      /JupiterSwap strategy is only supported on mainnet-beta/,
    ],
    [
      'solana-1',
      { fee_payment_strategy: 'relayer', swap_config: {} },
      /Swap config only supported for user fee payment/,
    ],
    ['stellar-1', { max_signatures: 1 }, /unknown field `max_signatures`, expected one of `fee_payment_strategy`/],
    ['stellar-1', { fee_payment_strategy: null }, /Fee payment strategy is required/],
    ['stellar-1', null, /Stellar policy is required\. fee_payment_strategy is required/],
    ['evm-1', { fee_payment_strategy: 'user' }, /unknown field `fee_payment_strategy`, expected one of `min_balance`/],
  ] as const) {
    const refused = await patch(id, policies);
    t.match(refused, { status: 400, body: { success: false, data: null, message: 'Bad Request', error: said } });
  }

  await service.stop();
  const again = await start(t, scene);
  const { body } = await again.request('GET', `${relayers}/solana-1`);
  t.match(body.data, { address: SOLANA_ADDRESS, system_disabled: false });
  t.strictSame(body.data.policies, shown);
});

t.test('each tells how it stands', async (t) => {
  const scene = await stage(t);
  const service = await start(t, scene);
  const list = await service.request('GET', `${relayers}/stellar-1/transactions`);
  t.match(list, { status: 200, body: { data: [], pagination: { total_items: 0 } } });
  const health = { jsonrpc: '2.0', id: '1', method: 'getHealth' };
  t.match((await service.request('POST', `${relayers}/stellar-1/rpc`, health)).body, {
    id: '1',
    result: { status: 'healthy' },
  });
  t.match((await service.request('GET', `${relayers}/stellar-1/status`)).body.data, {
    network_type: 'stellar',
    balance: '70000000',
    sequence_number: String(9n << 32n),
    system_disabled: false,
  });
  const balances = ['evm-1', 'solana-1', 'stellar-1'].map(async (id) => {
    const { body } = await service.request('GET', `${relayers}/${id}/balance`);
    return body.data;
  });
  t.match(await Promise.all(balances), [
    { unit: 'wei' },
    { balance: 10_000_000_000, unit: 'lamport' },
    { balance: 70_000_000, unit: 'stroop' },
  ]);
});

t.test('a declaration that its family refuses stops the start and says where', async (t) => {
  const { workspace, declare } = await stage(t);
  await declare({ policies: { max_signatures: -1, swap_confg: {} } });
  const { code, output } = await startAndFail(workspace.env);
  t.equal(code, 1);
  t.match(output, /relayers\[1\]\.policies\.max_signatures: /);
  t.match(output, /relayers\[1\]\.policies\.swap_confg: unknown key\. Did you mean "swap_config"\?/);

  await declare({ policies: { swap_config: { strategy: 'jupiter-ultra' } } });
  await t.rejects(composeService(workspace.env), /policies: JupiterUltra strategy is only supported on mainnet-beta/);
  await declare({ network: 'devnett' });
  await t.rejects(composeService(workspace.env), /there is no solana network "devnett"\. Did you mean "devnet"\?/);
});
