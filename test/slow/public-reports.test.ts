/**
 * What people who run other relayers, wallets and nodes met, as they reported it in public. Each case is named after
 * one of the reports and tells it in our words; the inputs are written anew.
 */
import { randomBytes } from 'node:crypto';
import { Transaction } from 'ethers';
import t, { type Test } from 'tap';
import type { Fault, FaultAct } from '../doubles/counterpart/faults.ts';
import { startAnvil } from '../support/anvil.ts';
import { EvmScenario, type EvmScenarioOptions } from '../support/evm-scenario.ts';
import type { FrontRule } from '../support/node-front.ts';
import type { DoubleAnswer } from '../support/rpc-double.ts';
import { SolanaScenario } from '../support/solana-scenario.ts';
import { StellarScenario } from '../support/stellar-scenario.ts';
import { startStellarScene } from '../support/stellar-scene.ts';
import { startSvmScene } from '../support/svm-scene.ts';

const SEND = 'eth_sendRawTransaction';
const RECEIPT = 'eth_getTransactionReceipt';
const GWEI = 10n ** 9n;
const MINUTE = 60_000;

/** The engine must not release the lane while the clock skips hours. */
const WATCHING = { idleMs: 24 * 60 * MINUTE };

const anvil = await startAnvil({ args: ['--no-mining', '--accounts', '60'] });
t.teardown(() => anvil.stop());
let accounts = 0;

const saying = (message: string, code = -32_000, data?: unknown): DoubleAnswer => ({ error: { code, message, data } });
const quantity = (value: bigint | number) => `0x${value.toString(16)}`;
const offered = ({ params }: { params: readonly unknown[] }) => Transaction.from(String(params[0]));

/** Runs a rule for one method only. */
const on =
  (method: string, rule: FrontRule): FrontRule =>
  (call, pass) =>
    call.method === method ? rule(call, pass) : undefined;

/** The first rule that answers. */
const either =
  (...rules: readonly FrontRule[]): FrontRule =>
  async (call, pass) => {
    for (const rule of rules) {
      const answer = await rule(call, pass);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };

interface Report {
  /** `owner/repository #number`, of one or more reports. */
  report: string;
  what: string;
  options?: EvmScenarioOptions;
  try(t: Test, stage: EvmScenario): Promise<void>;
}

/** Waits until the payments of 7 wei are confirmed, and checks that each was made once. */
async function paidOnce(t: Test, stage: EvmScenario, ids: readonly string[], nonces = ids.length): Promise<void> {
  t.equal(await paidWith(t, stage, ids), nonces);
}

/** Waits and checks in the same way. Returns how many sequences were used. */
async function paidWith(t: Test, stage: EvmScenario, ids: readonly string[]): Promise<number> {
  await stage.untilStatus(ids, 'confirmed', { mining: true, withinMs: 20_000 });
  t.equal(await stage.paid(), 7n * BigInt(ids.length));
  return await stage.nonces('pending');
}

const attemptsOf = async (stage: EvmScenario, id: string) => (await stage.attempts(id)).length;

/** A second attempt that no node forwards, so the first one is mined while the second is the latest. */
async function withLostBump(stage: EvmScenario, further: FrontRule): Promise<string> {
  const lost = new Set<string>();
  let first: string | undefined;
  stage.front.rule(
    either(
      on(SEND, (call) => {
        const { hash } = offered(call);
        first ??= String(hash);
        if (hash === first) return undefined;
        lost.add(String(hash));
        return { result: hash };
      }),
      on(RECEIPT, (call, pass) => (lost.has(String(call.params[0])) ? further(call, pass) : undefined)),
    ),
  );
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  stage.pass(30 * MINUTE);
  await stage.until('a second attempt', async () => lost.size > 0);
  return id;
}

const EVM: readonly Report[] = [
  {
    report: 'NethermindEth/nethermind #4148; ethereum/execution-apis #245',
    what: 'a node says that the fee is too low, keeps the bytes all the same, and says later that it knows them',
    options: { policies: { gas_price_cap: Number(1_000n * GWEI) } },
    async try(t, stage) {
      const had = new Set<string>();
      stage.front.rule(
        on(SEND, async (call, pass) => {
          const hash = String(offered(call).hash);
          if (had.has(hash)) return saying('AlreadyKnown', -32_010);
          had.add(hash);
          await pass();
          return saying('FeeTooLow', -32_010);
        }),
      );
      await paidOnce(t, stage, [await stage.send()]);
    },
  },
  {
    report: 'hiero-ledger/hiero-json-rpc-relay #1336, #3716',
    what: 'a relay answers the hash of bytes above the next nonce and forgets them',
    async try(t, stage) {
      stage.front.rule(
        on(SEND, async (call) => {
          const { hash, nonce } = offered(call);
          return nonce === (await stage.nonces()) ? undefined : { result: hash };
        }),
      );
      await paidOnce(t, stage, await stage.sendMany(4));
    },
  },
  {
    report: 'hiero-ledger/hiero-json-rpc-relay #1791, #1513',
    what: 'a free nonce is called too low for a while, with its own figure as the current one',
    async try(t, stage) {
      let left = 6;
      stage.front.rule(
        on(SEND, (call) => {
          const { nonce } = offered(call);
          left -= 1;
          const text = `[Request ID: 1] Nonce too low. Provided nonce: ${nonce}, current nonce: ${nonce}`;
          return left >= 0 ? saying(text, 32_001) : undefined;
        }),
      );
      const ids = await stage.sendMany(2);
      await paidOnce(t, stage, ids);
    },
  },
  {
    report: 'hiero-ledger/hiero-json-rpc-relay #2131',
    what: 'the bytes are executed, and the answer is an internal error with status 500',
    async try(t, stage) {
      stage.front.rule(
        on(SEND, async (_call, pass) => {
          await pass();
          return {
            error: { code: -32_603, message: 'Error invoking RPC: No matching record found for transaction id 0.0.1' },
            status: 500,
          };
        }),
      );
      await paidOnce(t, stage, await stage.sendMany(2));
    },
  },
  {
    report: 'RequestNetwork/requestNetwork #997; hyperledger-labs/eThaler #28',
    what: 'a price far too low is refused with the least that is taken, in the words of Nethermind, Hedera or Lotus',
    async try(t, stage) {
      const least = 30n * GWEI;
      for (const text of [
        (tip: bigint) => `FeeTooLow, EffectivePriorityFeePerGas too low ${tip} < ${least}, BaseFee: 7`,
        (tip: bigint) => `[Request ID: 2] Gas price '${tip}' is below configured minimum gas price '${least}'`,
        (tip: bigint) => `Gas price ${tip} is below configured minimum gas price ${least}`,
      ]) {
        stage.front.rule(
          on(SEND, (call) => {
            const tip = offered(call).maxPriorityFeePerGas ?? 0n;
            return tip < least ? saying(text(tip)) : undefined;
          }),
        );
        const own = { speed: undefined, max_fee_per_gas: Number(3n * GWEI), max_priority_fee_per_gas: 218 };
        const id = await stage.send(own);
        await stage.untilStatus(id, 'confirmed', { mining: true });
        t.equal(await attemptsOf(stage, id), 2, text(1n));
      }
    },
  },
  {
    report: 'openethereum/parity-ethereum #3482, #10623; singnet/snet-cli #54',
    what: 'a receipt without a block is no receipt, even when the nonce is used',
    async try(t, stage) {
      let left = 5;
      stage.front.rule(
        on(RECEIPT, ({ params }) => {
          left -= 1;
          const none = { blockHash: null, blockNumber: null, contractAddress: null, cumulativeGasUsed: '0x5208' };
          return left >= 0 ? { result: { ...none, gasUsed: '0x5208', transactionHash: params[0] } } : undefined;
        }),
      );
      await paidOnce(t, stage, [await stage.send()]);
    },
  },
  ...(
    [
      ['cosmos/evm #380', saying('tx not found')],
      ['flashbots/rpc-endpoint #33', saying('transaction failed')],
      ['filecoin-project/ref-fvm #1362', saying('failed to lookup Eth Txn: message not found', 1)],
      ['AcalaNetwork/bodhi.js #316', saying('transaction hash not found', -32_603)],
      ['status-im/status-go #361', { result: undefined }],
    ] as const
  ).map(
    ([report, answer]): Report => ({
      report,
      what: `a hash that is in no block has no receipt: ${JSON.stringify(answer)}; the attempt before it is mined`,
      async try(t, stage) {
        const id = await withLostBump(stage, () => answer);
        await paidOnce(t, stage, [id]);
      },
    }),
  ),
  {
    report: 'web3/web3.js #2600; Taraxa-project/taraxa-node #1876; hiero-ledger/hiero-json-rpc-relay #606',
    what: 'the figures of a receipt are JSON numbers, and the gas is null',
    async try(t, stage) {
      const numbered = (receipt: unknown) => {
        const { blockNumber, status, ...rest } = receipt as Record<string, string>;
        return {
          ...rest,
          blockNumber: Number(blockNumber),
          status: Number(status),
          transactionIndex: 0,
          gasUsed: null,
        };
      };
      stage.front.rule(async ({ method }, pass) => {
        if (method !== RECEIPT && method !== 'eth_getBlockReceipts') return undefined;
        const answer = await pass();
        if (typeof answer !== 'object' || !('result' in answer) || answer.result === null) return answer;
        return { result: Array.isArray(answer.result) ? answer.result.map(numbered) : numbered(answer.result) };
      });
      await paidOnce(t, stage, await stage.sendMany(2));
    },
  },
  {
    report: 'ConsenSys-archive/ganache #520; ConsenSys-archive/ganache-ui #1588',
    what: 'a node mines a call that reverts and answers the revert as an error of the offer',
    async try(t, stage) {
      const to = `0x${randomBytes(20).toString('hex')}`;
      await anvil.rpc('anvil_setCode', [to, '0x60006000fd']);
      stage.front.rule(
        on(SEND, async (_call, pass) => {
          await pass();
          return saying('VM Exception while processing transaction: revert', -32_000, { name: 'RuntimeError' });
        }),
      );
      const id = await stage.send({ to, value: 0, gas_limit: 60_000 });
      await stage.untilStatus(id, 'failed', { mining: true });
      t.match((await stage.get(id)).statusReason, /reverted/);
      t.strictSame([await attemptsOf(stage, id), await stage.nonces('pending')], [1, 1]);
    },
  },
  {
    report: 'streamingfast/firehose-ethereum #198; INFURA/infura #43; okx/Deploy #4',
    what: 'blocks are null for a while, the latest too, though the height is told',
    async try(t, stage) {
      let left = 12;
      stage.front.rule(
        on('eth_getBlockByNumber', () => {
          left -= 1;
          return left >= 0 ? { result: null } : undefined;
        }),
      );
      const first = await stage.send();
      await stage.untilStatus(first, 'confirmed', { mining: true });
      left = 12;
      const second = await stage.send();
      await paidOnce(t, stage, [first, second]);
    },
  },
  {
    report: 'openethereum/parity-ethereum #2442; polkadot-evm/frontier #171; LFDT-web3j/web3j #880',
    what: 'the count of pending is lower than that of the latest block, or always 0',
    async try(t, stage) {
      const ids: string[] = [];
      for (const result of ['0x0', '0x1']) {
        stage.front.rule(
          on('eth_getTransactionCount', ({ params: [, tag] }) => (tag === 'pending' ? { result } : undefined)),
        );
        ids.push(...(await stage.sendMany(2)));
        await stage.untilStatus(ids, 'confirmed', { mining: true });
      }
      await paidOnce(t, stage, ids);
    },
  },
  {
    report: 'aurora-is-near/partner-relayer-deploy #48; aurora-is-near/aurora-engine #451, #552',
    what: 'ERR_INCORRECT_NONCE means used, ahead, or executed already; what waits behind another is not given up',
    async try(t, stage) {
      let isOpen = false;
      stage.front.rule(
        on(SEND, async (call, pass) => {
          const { nonce } = offered(call);
          if (nonce !== (await stage.nonces('pending'))) return saying('ERR_INCORRECT_NONCE');
          if (!isOpen && nonce === 0) return saying('transaction underpriced');
          await pass();
          return saying('ERR_INCORRECT_NONCE');
        }),
      );
      const ids = await stage.sendMany(3);
      await stage.until('all were offered', () => stage.front.offers.length > 6);
      for (let minute = 0; minute < 14; minute += 1) {
        stage.pass(MINUTE);
        const before = stage.front.offers.length;
        await stage.until('offered again', () => stage.front.offers.length > before + 1);
      }
      for (const id of ids) t.match(await stage.get(id), { status: 'sent', noopEnd: null });
      isOpen = true;
      await paidOnce(t, stage, ids);
    },
  },
  {
    report: 'onflow/flow-evm-gateway #983, #975',
    what: 'a gateway has lost the bytes and calls every offer of their nonce already submitted, for minutes',
    options: { policies: { gas_price_cap: Number(1_000n * GWEI) } },
    async try(t, stage) {
      let isWedged = true;
      let offers = 0;
      stage.front.rule(
        on(SEND, (call) => {
          offers += 1;
          if (!isWedged) return undefined;
          if (offers === 1) return { result: offered(call).hash };
          return saying('invalid: transaction with the same nonce already submitted', -32_000);
        }),
      );
      const id = await stage.send();
      await stage.untilStatus(id, 'submitted');
      for (let minute = 0; minute < 14; minute += 1) {
        stage.pass(MINUTE);
        const before = offers;
        await stage.until('offered again', () => offers > before);
      }
      t.match(await stage.get(id), { status: 'submitted', noopEnd: null });
      isWedged = false;
      await paidOnce(t, stage, [id]);
    },
  },
  ...(
    [
      [
        'Conflux-Chain/conflux-rust #2635, #752',
        (least: bigint) =>
          saying(
            'Invalid parameters: tx',
            -32_602,
            `"Tx with same nonce already inserted. To replace it, you need to specify a gas price > ${least - 1n}"`,
          ),
      ],
      [
        'filecoin-project/lotus #5209',
        (least: bigint) =>
          saying(
            `message from f410fabc with nonce 0 already in mpool, increase GasPremium to ${least} from 5 to trigger replace by fee: replace by fee has too low GasPremium`,
            1,
          ),
      ],
    ] as const
  ).map(
    ([report, refusal]): Report => ({
      report,
      what: `a replacement needs a quarter more: ${JSON.stringify(refusal(5n))}`,
      options: { policies: { gas_price_cap: Number(1_000n * GWEI) } },
      async try(t, stage) {
        let [taken, isDead] = [0n, true];
        stage.front.rule(
          on(SEND, (call) => {
            const { hash, maxPriorityFeePerGas: tip } = offered(call);
            const least = (taken * 5n) / 4n;
            if (tip === null || tip < least) return tip === taken ? saying('already known') : refusal(least);
            taken = tip;
            // The first version is never mined.
            if (isDead) return { result: hash };
            return undefined;
          }),
        );
        const id = await stage.send();
        await stage.untilStatus(id, 'submitted');
        isDead = false;
        stage.pass(30 * MINUTE);
        await stage.until('a replacement', async () => (await attemptsOf(stage, id)) > 1);
        await paidOnce(t, stage, [id]);
        t.ok((await attemptsOf(stage, id)) <= 5, `${await attemptsOf(stage, id)} attempts`);
      },
    }),
  ),
  {
    report: 'alchemyplatform/rundler #720',
    what: 'a replacement is turned away with words that nobody knows, while the attempt before it may still be mined',
    options: { policies: { gas_price_cap: Number(1_000n * GWEI) } },
    async try(t, stage) {
      let [first, turned] = ['', 0];
      stage.front.rule(
        on(SEND, (call) => {
          const hash = String(offered(call).hash);
          first ||= hash;
          if (hash === first) return undefined;
          turned += 1;
          return saying('the sequencer declines this');
        }),
      );
      const id = await stage.send();
      await stage.untilStatus(id, 'submitted');
      stage.pass(30 * MINUTE);
      await stage.until('a replacement', () => turned > 0);
      for (let minute = 0; minute < 14; minute += 1) {
        stage.pass(MINUTE);
        const before = turned;
        await stage.until('offered again', () => turned > before);
      }
      t.match(await stage.get(id), { noopEnd: null });
      await paidOnce(t, stage, [id]);
    },
  },
  {
    report: 'Conflux-Chain/conflux-developer-site #55; OriginProtocol/origin #2527; vultisig/vultisig-ios #139',
    what: 'words for bytes that are there already, after their first answer was lost',
    async try(t, stage) {
      for (const again of [
        saying('Invalid parameters: tx', -32_602, '"tx already exist"'),
        saying('known transaction: 33aa247d292c1a41ffda4e219e243c5e', -32_000),
        saying('already known', -32_000),
      ]) {
        let offers = 0;
        stage.front.rule(
          on(SEND, async (_call, pass) => {
            offers += 1;
            if (offers > 1) return again;
            await pass();
            return 'hang-up';
          }),
        );
        const id = await stage.send();
        await stage.untilStatus(id, 'submitted', { withinMs: 5_000 }).catch(() => t.fail(JSON.stringify(again)));
        await stage.untilStatus(id, 'confirmed', { mining: true });
      }
    },
  },
  {
    report: 'lambdaclass/ethrex #3269; consensus-shipyard/ipc #1194; matter-labs/hardhat-zksync #71',
    what: 'words for a nonce that another of our attempts has used: found at once, and nothing is paid twice',
    async try(t, stage) {
      for (const used of [
        saying('Invalid params: Nonce for account too low', -32_602),
        saying('minimum expected nonce is 9, got 8: message nonce too low', 1),
        saying('Execution error', 3, {
          code: 104,
          message: 'Tx nonce is incorrect. Another transaction with the nonce 8 is already accepted.',
        }),
        saying('Invalid parameters: tx', -32_602, '"Transaction 0x01 is discarded due to a too stale nonce"'),
      ]) {
        stage.front.rule(
          on(SEND, async (_call, pass) => {
            await pass();
            await stage.mine();
            return used;
          }),
        );
        const id = await stage.send();
        await stage.untilStatus(id, 'confirmed', { mining: true });
        t.equal(await attemptsOf(stage, id), 1, JSON.stringify(used));
      }
      t.equal(await stage.paid(), 28n);
    },
  },
  {
    report: 'MetaMask/metamask-extension #42068; category-labs/monad-bft #2491; NethermindEth/nethermind #4829',
    what: 'the account has too little for a while, in the words of Monad or Nethermind: the payment waits, and is made',
    async try(t, stage) {
      const ids: string[] = [];
      for (const poor of [
        saying('reserve balance violation', -32_603),
        saying('reserve balance violation', -32_000),
        saying('InsufficientFunds, Account balance: 302000, cumulative cost: 580900', -32_010),
      ]) {
        let isPoor = true;
        stage.front.rule(on(SEND, () => (isPoor ? poor : undefined)));
        const id = await stage.send();
        ids.push(id);
        for (let minute = 0; minute < 14; minute += 1) {
          const before = stage.front.offers.length;
          await stage.until('offered again', () => stage.front.offers.length > before);
          stage.pass(MINUTE);
        }
        t.match(await stage.get(id), { status: 'sent', noopEnd: null }, JSON.stringify(poor));
        isPoor = false;
        await stage.untilStatus(id, 'confirmed', { mining: true }).catch((error: Error) => t.fail(error.message));
      }
      await paidOnce(t, stage, ids);
    },
  },
  {
    report: 'sei-protocol/sei-chain #3383; evmos/evmos #2274',
    what: 'the chain takes the nonce and shows no transaction for it, ever: nothing is signed anew, the next one goes on',
    async try(t, stage) {
      let isLost = true;
      stage.front.rule(
        on(SEND, async (call) => {
          const { hash, nonce } = offered(call);
          if (!isLost || nonce !== 0) return undefined;
          isLost = false;
          await anvil.rpc('anvil_setNonce', [stage.address, '0x1']);
          return { result: hash };
        }),
      );
      const id = await stage.send();
      const next = await stage.send();
      await stage.untilStatus(next, 'confirmed', { mining: true });
      await stage.until('it says so', async () => (await stage.get(id)).statusReason !== null, { mining: true });
      t.strictSame([await attemptsOf(stage, id), await stage.paid()], [1, 7n]);
      t.not((await stage.get(id)).status, 'confirmed');
    },
  },
  {
    report: 'gatechain/node-binary #15',
    what: 'a node never has a receipt for a transaction that its block lists: it is not called failed, nor paid again',
    async try(t, stage) {
      let isDumb = true;
      stage.front.rule((call) => {
        if (call.method === RECEIPT && isDumb) return { result: null };
        if (call.method === 'eth_getBlockReceipts' && isDumb) return { result: null };
        return undefined;
      });
      const id = await stage.send();
      await stage.until('asked', () => stage.front.calls(RECEIPT) > 20, { mining: true });
      t.match(await stage.get(id), { status: 'submitted', noopEnd: null });
      t.match((await stage.get(id)).statusReason, /receipt|block/i);
      isDumb = false;
      await paidOnce(t, stage, [id]);
      t.equal(await attemptsOf(stage, id), 1);
    },
  },
  {
    report: 'ethereum-optimism/optimism #5301, #9227; paradigmxyz/reth #8661',
    what: 'a node says for hours that it knows the bytes and never forwards them: a dearer attempt gets through',
    options: { policies: { gas_price_cap: Number(1_000n * GWEI) } },
    async try(t, stage) {
      const [stuck, had] = [new Set<string>(), { count: 0 }];
      stage.front.rule(
        on(SEND, (call) => {
          const hash = String(offered(call).hash);
          if (stuck.has(hash)) return saying('already known');
          had.count += 1;
          if (had.count > 1) return undefined;
          stuck.add(hash);
          return { result: hash };
        }),
      );
      const id = await stage.send();
      await stage.untilStatus(id, 'submitted');
      stage.pass(30 * MINUTE);
      await paidOnce(t, stage, [id]);
    },
  },
  {
    report: 'MetaMask/metamask-extension #7305, #8831',
    what: 'a payment that was cancelled is not brought back by the attempts that speed the cancellation up',
    options: { policies: { gas_price_cap: Number(1_000n * GWEI) } },
    async try(t, stage) {
      const id = await stage.send();
      await stage.untilStatus(id, 'submitted');
      await stage.cancel(id);
      for (const count of [2, 3, 4]) {
        await stage.until(`attempt ${count} is taken`, async () => {
          const latest = (await stage.attempts(id)).at(-1);
          return latest?.ordinal === count && latest.acceptedAt !== null;
        });
        if (count < 4) stage.pass(120 * MINUTE);
      }
      const [first, ...further] = await stage.attempts(id);
      t.equal(first?.purpose, 'send');
      t.ok(further.every(({ purpose }) => purpose === 'noop'));
      await t.rejects(
        stage.services.lifecycle.replace('r1', id, { to: stage.payee, value: 9, data: '0x', speed: 'fast' }),
      );
      await stage.untilStatus(id, 'canceled', { mining: true });
      t.strictSame([await stage.paid(), await stage.nonces('pending')], [0n, 1]);
    },
  },
  {
    report: 'GLEECBTC/komodo-defi-framework #2647; verdikta/verdikta-arbiter #29; base/base #2347',
    what: 'a delegated account may have one transaction in the pool: the others follow, and the node is not left alone',
    async try(t, stage) {
      stage.front.rule(
        on(SEND, async () => {
          const isFull = (await stage.nonces('pending')) > (await stage.nonces());
          return isFull ? saying('in-flight transaction limit reached for delegated accounts') : undefined;
        }),
      );
      await paidOnce(t, stage, await stage.sendMany(5));
      t.notMatch(stage.logLines.join(''), /paused/);
    },
  },
  {
    report: 'flashbots/rbuilder #74; openethereum/parity-ethereum #3122, #1281',
    what: 'the answer to an offer is null, or the hash of nothing; the bytes are taken, or not',
    async try(t, stage) {
      const ids: string[] = [];
      for (const result of [null, '0x0', `0x${'0'.repeat(64)}`]) {
        for (const isTaken of [true, false]) {
          let left = 3;
          stage.front.rule(
            on(SEND, async (_call, pass) => {
              left -= 1;
              if (left < 0) return undefined;
              if (isTaken) await pass();
              return { result };
            }),
          );
          ids.push(await stage.send());
          await stage.untilStatus(ids, 'confirmed', { mining: true });
        }
      }
      await paidOnce(t, stage, ids);
    },
  },
  {
    report: 'filecoin-project/lotus #2417; filecoin-project/venus #4176',
    what: 'a pool counts messages that can never be executed: payments above them come back when that is over',
    async try(t, stage) {
      let isHaunted = true;
      stage.front.rule((call) => {
        if (call.method === 'eth_getProof') return saying('method not found', -32_601);
        const isPool = call.method === 'eth_getTransactionCount' && call.params[1] === 'pending';
        return isPool && isHaunted ? { result: '0x5' } : undefined;
      });
      const ids = await stage.sendMany(2);
      await stage.until('signed, or why not', async () => {
        const { sequence, statusReason } = await stage.get(ids[0] ?? '');
        return sequence !== null || statusReason !== null;
      });
      isHaunted = false;
      // A count that is told twice is believed where a node proves none. Then the gap is filled.
      t.ok([2, 7].includes(await paidWith(t, stage, ids)));
    },
  },
  {
    report: 'ethersphere/bee #3020; status-im/status-legacy #6505',
    what: 'a node without EIP-1559 names a price of 0 once: the payment is not left at that price',
    options: { settings: { features: [] } },
    async try(t, stage) {
      let left = 1;
      stage.front.rule(
        either(
          on('eth_gasPrice', () => {
            left -= 1;
            return left >= 0 ? { result: '0x0' } : undefined;
          }),
          on(SEND, (call) => ((offered(call).gasPrice ?? 0n) < GWEI ? { result: offered(call).hash } : undefined)),
        ),
      );
      const id = await stage.send();
      await stage.untilStatus(id, 'submitted');
      stage.pass(30 * MINUTE);
      await paidOnce(t, stage, [id]);
      t.ok((await attemptsOf(stage, id)) <= 2);
    },
  },
  {
    report: 'dfinity/oisy-wallet #13938',
    what: 'on an OP chain the fee for L1 data is kept beside the payment, and is waited for',
    options: { settings: { tags: ['optimism-based'] }, policies: { min_balance: 0 } },
    async try(t, stage) {
      const l1 = 5n * GWEI * 100_000n;
      stage.front.rule(
        on('eth_call', ({ params: [call] }) => {
          const { to, data, input } = call as { to?: string; data?: string; input?: string };
          if (to?.startsWith('0x420000') !== true) return undefined;
          return (data ?? input ?? '').startsWith('0x49948e0e')
            ? { result: `0x${l1.toString(16).padStart(64, '0')}` }
            : saying('execution reverted', 3);
        }),
      );
      const price = 2n * GWEI;
      const own = { speed: undefined, max_fee_per_gas: Number(price), max_priority_fee_per_gas: Number(price) };
      await anvil.rpc('anvil_setBalance', [stage.address, quantity(7n + 21_000n * price + l1 - 1n)]);
      const id = await stage.send(own);
      await stage.until('it waits for money', async () =>
        /insufficient/i.test((await stage.get(id)).statusReason ?? ''),
      );
      t.equal((await stage.get(id)).sequence, null);
      await anvil.rpc('anvil_setBalance', [stage.address, quantity(7n + 21_000n * price + l1)]);
      stage.pass(MINUTE);
      await paidOnce(t, stage, [id]);
    },
  },
];

for (const { report, what, options, try: tryIt } of EVM) {
  t.test(`${report}: ${what}`, async (t) => {
    const stage = await EvmScenario.open(t, anvil, { account: accounts++, timing: WATCHING, ...options });
    t.teardown(() => anvil.rpc('anvil_dropAllTransactions', []));
    await stage.start();
    await tryIt(t, stage);
  });
}

interface NodeReport {
  report: string;
  what: string;
  faults: readonly Fault[];
  /** How many of the next transactions are taken and forgotten. */
  drops?: number;
}

const sending = ['sendTransaction'];
const preflight = (message: string, data?: unknown): FaultAct => ({ kind: 'error', code: -32_002, message, data });

const SOLANA: readonly NodeReport[] = [
  {
    report: 'michaelhly/solana-py #204, #96',
    what: 'the only node says for a while that a funded payer does not exist',
    faults: [
      {
        methods: sending,
        times: 6,
        act: preflight(
          'Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.',
          {
            accounts: null,
            err: 'AccountNotFound',
            logs: [],
          },
        ),
      },
    ],
  },
  {
    report: 'vultisig/vultisig-android #5105, #5110; XLabs/portal-bridge-ui #1021',
    what: 'a node behind a balancer does not know a fresh blockhash yet',
    faults: [
      {
        methods: sending,
        times: 6,
        act: preflight('Transaction simulation failed: Blockhash not found', { err: 'BlockhashNotFound', logs: [] }),
      },
    ],
  },
  {
    report: 'solana-labs/solana #21044, #23301, #18691',
    what: 'the only node is behind and refuses to send',
    faults: [
      {
        methods: sending,
        times: 6,
        act: { kind: 'error', code: -32_005, message: 'Node is behind by 206 slots', data: { numSlotsBehind: 206 } },
      },
    ],
  },
  {
    report: 'solana-labs/solana #10338',
    what: 'the only node is unhealthy and says so as a failed preflight',
    faults: [{ methods: sending, times: 6, act: preflight('RPC node is unhealthy, unable to simulate transaction') }],
  },
  {
    report: 'michaelhly/solana-py #259',
    what: 'a preflight fails twice because the node has not seen an account yet',
    faults: [
      {
        methods: sending,
        times: 2,
        act: preflight('Transaction simulation failed: Error processing Instruction 2: custom program error: 0xbc4', {
          err: { InstructionError: [2, { Custom: 3012 }] },
          logs: [],
        }),
      },
    ],
  },
  {
    report: 'solana-foundation/stake-o-matic #171; cardotrejos/x402 #78',
    what: 'statuses are null for a while after the transaction has landed',
    faults: [
      {
        methods: ['getSignatureStatuses'],
        times: 12,
        act: { kind: 'merge', fields: { value: [null] } },
      },
    ],
  },
  {
    report: 'vultisig/vultisig-sdk #874',
    what: 'the bytes have landed, and the repeated offer is called a failure: already processed',
    faults: [
      { methods: sending, times: 1, act: { kind: 'cut' } },
      {
        methods: sending,
        times: 1,
        act: preflight('Transaction simulation failed: This transaction has already been processed', {
          err: 'AlreadyProcessed',
          logs: [],
        }),
      },
    ],
  },
];

t.test('Solana', async (t) => {
  const scene = await startSvmScene();
  t.teardown(() => scene.svm.stop());
  for (const { report, what, faults } of SOLANA) {
    await t.test(`${report}: ${what}`, async (t) => {
      const node = await scene.svm.endpoint();
      const scenario = await SolanaScenario.open(t, scene, { urls: [node.url] });
      for (const fault of faults) await node.fault(fault);
      await scenario.start();
      const id = await scenario.send();
      await scenario.untilStatus(id, 'confirmed', { mining: true });
      t.equal(await scenario.executions(id), 1);
    });
  }
});

const badSequence = (errorResultXdr: string): FaultAct => ({
  kind: 'merge',
  fields: { status: 'ERROR', errorResultXdr },
});

const STELLAR: readonly NodeReport[] = [
  {
    report: 'stellar/stellar-rpc #1019; stellar/stellar-core #1793',
    what: 'a sequence that is right is called bad, right after the payment before it, and nothing is taken',
    drops: 4,
    faults: [{ methods: sending, times: 4, act: badSequence('AAAAAAAAAAD////7AAAAAA==') }],
  },
  {
    report: 'stellar/stellar-core #1793, as charged',
    what: 'the answer is a bad sequence with a fee in it, although the node took the bytes',
    faults: [{ methods: sending, times: 3, act: badSequence('AAAAAAAAAGT////7AAAAAA==') }],
  },
  {
    report: 'elucidsoft/dotnet-stellar-sdk #353; pendulum-chain/spacewalk #500',
    what: 'the fee is called insufficient under load, with the fee that is asked',
    drops: 2,
    faults: [
      {
        methods: sending,
        times: 2,
        act: { kind: 'merge', fields: { status: 'ERROR', errorResultXdr: 'AAAAAAAAAGX////3AAAAAA==' } },
      },
    ],
  },
  {
    report: 'stellar/stellar-docs #1025',
    what: 'TRY_AGAIN_LATER while the account has another transaction in memory',
    drops: 5,
    faults: [{ methods: sending, times: 5, act: { kind: 'merge', fields: { status: 'TRY_AGAIN_LATER' } } }],
  },
];

t.test('Stellar', async (t) => {
  const scene = await startStellarScene();
  t.teardown(() => scene.net.stop());
  await t.test(
    'stellar/stellar-rpc #619; stellar-deprecated/horizon #53: a ledger is named that was not searched',
    async (t) => {
      const scenario = await StellarScenario.open(t, scene);
      await scenario.start();
      const id = await scenario.send();
      await scenario.untilStatus(id, 'submitted');
      await scene.net.fault({ methods: ['getTransaction'], act: { kind: 'merge', fields: { status: 'NOT_FOUND' } } });
      const asked = await scene.net.calls('getTransaction');
      await scene.net.tick();
      await scenario.until('asked', async () => (await scene.net.calls('getTransaction')) > asked + 8);
      await scene.net.clearFaults();
      await scenario.untilStatus(id, 'confirmed', { mining: true });
      t.strictSame([await scenario.received(), await scenario.executions(id)], [1n, 1]);
    },
  );
  for (const { report, what, faults, drops = 0 } of STELLAR) {
    await t.test(`${report}: ${what}`, async (t) => {
      const scenario = await StellarScenario.open(t, scene);
      t.teardown(() => scene.net.dropNext(0));
      await scenario.start();
      const before = await scenario.send();
      await scenario.untilStatus(before, 'confirmed', { mining: true });
      await scene.net.dropNext(drops);
      for (const fault of faults) await scene.net.fault(fault);
      const ids = [await scenario.send(), await scenario.send()];
      await scenario.untilStatus(ids, 'confirmed', { mining: true });
      t.equal(await scenario.received(), 3n);
      for (const id of ids) t.equal(await scenario.executions(id), 1);
    });
  }
});
