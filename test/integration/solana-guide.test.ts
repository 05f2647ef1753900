/** The statements of docs/solana.md are true. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { createChains } from '../../src/chains/registry.ts';
import { DEFAULT_MAX_FEE, solanaPolicies } from '../../src/chains/solana/configuration/policy.ts';
import { feePayerLoss } from '../../src/chains/solana/guard/fee-payer.ts';
import { createSolanaChain } from '../../src/chains/solana/index.ts';
import { compileLegacyMessage } from '../../src/chains/solana/message/compiled-message.ts';
import { MEMO_PROGRAMS } from '../../src/chains/solana/programs.ts';
import { FEW_UNITS } from '../../src/chains/solana/swap/jupiter.ts';
import { MAX_SWAP_PRIORITY_FEE } from '../../src/chains/solana/swap/plan.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { defaultTiming } from '../../src/engine/timing.ts';
import { loadConfiguration } from '../../src/settings/load.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import { familyInstructions } from '../support/solana-instructions.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'solana.md'), 'utf8');
const ADDRESS = 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z';
const [, pasted = ''] = /```json\n([^]*?)```/.exec(guide) ?? [];

t.test('the configuration is taken as pasted', async (t) => {
  const cwd = t.testdir({ config: { 'config.json': pasted } });
  const parts = {
    env: { KEYSTORE_PASSPHRASE: 'a passphrase' },
    chains: createChains(systemClock),
    signerKinds: createSignerKinds(),
  };
  const { relayers, networks } = await loadConfiguration({ ...parts, cwd });
  t.match(relayers, [{ id: 'solana-1', networkType: 'solana', policies: { fee_payment_strategy: 'relayer' } }]);
  for (const name of ['localnet', 'devnet', 'testnet', 'mainnet-beta']) {
    t.ok(networks.some((network) => network.type === 'solana' && network.name === name) || name !== 'devnet', name);
    t.match(guide, `\`${name}\``);
  }
});

t.test('the first request is one', async (t) => {
  const [, body = ''] = /-d '(\{.*\})'/.exec(guide) ?? [];
  const account = { address: ADDRESS, policies: { fee_payment_strategy: 'relayer' } };
  t.match(createSolanaChain().parseRequest(JSON.parse(body), account, 0), { anchorKind: 'none', onDeath: 'renew' });
});

t.test('its figures are those of the family', async (t) => {
  const { pace, minimumBalance } = createSolanaChain();
  t.match(guide, `offered again every ${(pace.reofferMs ?? 0) / 1_000} s`);
  t.match(guide, `(${Number(minimumBalance({})) / 1e9} SOL where the policy is not set)`);
  const said = (amount: bigint) => amount.toLocaleString('en');
  t.match(guide, `may cost up to ${said(DEFAULT_MAX_FEE)} lamports (0.01 SOL)`);
  t.match(guide, `priority costs\n  at most ${said(MAX_SWAP_PRIORITY_FEE)} lamports`);
  t.match(guide, `less than ${said(FEW_UNITS)} units of a token`);
  t.match(guide, `by a look every ${defaultTiming.swapBalanceMs / 1_000} s`);
});

t.test('so many instructions of so many accounts are taken, and no more', async (t) => {
  const account = { address: ADDRESS, policies: { fee_payment_strategy: 'relayer' } };
  const [, count = '', accounts = ''] = /At most (\d+) instructions of\n {2}(\d+) accounts each/.exec(guide) ?? [];
  const meta = { pubkey: MEMO_PROGRAMS[0] ?? '', is_signer: false, is_writable: false };
  const taken = (instructions: number, each: number) => {
    const one = { program_id: MEMO_PROGRAMS[0], accounts: Array.from({ length: each }, () => meta), data: '' };
    const body = { instructions: Array.from({ length: instructions }, () => one) };
    return createSolanaChain().parseRequest(body, account, 0);
  };
  t.ok(taken(Number(count), 0));
  t.ok(taken(1, Number(accounts)));
  t.throws(() => taken(Number(count) + 1, 0), { code: 'INVALID_REQUEST' });
  t.throws(() => taken(1, Number(accounts) + 1), { code: 'INVALID_REQUEST' });
});

t.test('its table of policies names policies', async (t) => {
  const rows = [...guide.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| [^|]+ \|$/gm)].map(([, names = '']) => names);
  const names = rows.flatMap((row) => [...row.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name));
  t.ok(names.length >= 8);
  for (const name of names) t.notOk(solanaPolicies.schema.safeParse({ [name]: { no: 'such' } }).success, name);
});

t.test('its table has every place in which the relayer may stand', async (t) => {
  const rows = [
    ...guide.matchAll(/^\| (System|Token, Token-2022|Associated Token Account|Memo) \| ([^|]+) \| ([^|]+) \|$/gm),
  ];
  const allowed = new Set<string>();
  for (const { name, instruction } of familyInstructions()) {
    for (const place of instruction.keys.keys()) {
      const keys = instruction.keys.map((meta, index) =>
        index === place ? { ...meta, pubkey: new PublicKey(ADDRESS) } : meta,
      );
      const one = new TransactionInstruction({ programId: instruction.programId, data: instruction.data, keys });
      const message = compileLegacyMessage({ payer: ADDRESS, instructions: [one], blockhash: ADDRESS });
      if (feePayerLoss(message, { paysRent: false }) === undefined) allowed.add(name.replace(/^token(-2022)? /, ''));
    }
  }
  t.strictSame(
    [...allowed],
    [
      ...['system transfer', 'system transfer-with-seed', 'nonce advance', 'close', 'initialize-account'],
      ...['associated create', 'associated create-idempotent'],
    ],
  );
  t.equal(rows.flatMap(([, , names = '']) => names.split(', ')).length, allowed.size + 1, 'and the memo');
  t.ok(guide.includes(String(MEMO_PROGRAMS[0])));
});
