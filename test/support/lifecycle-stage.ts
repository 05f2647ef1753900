import type { Test } from 'tap';
import { type Anvil, startAnvil } from './anvil.ts';
import { composeService } from './composed-service.ts';
import type { AnswerBody, StartedService } from './service.ts';
import { createWorkspace, type WorkspaceOptions } from './workspace.ts';

export const RELAYER = '/api/v1/relayers/local-1';
export const TRANSACTIONS = `${RELAYER}/transactions`;
/** An account that has only what a test's transactions send to it. */
export const RECEIVER = '0x00000000000000000000000000000000000abcde';
export const OTHER = '0x00000000000000000000000000000000000fedcb';
/** A payment of 7 wei to {@link RECEIVER}. */
export const TRANSFER = { to: RECEIVER, value: 7, data: '0x', gas_limit: 21_000, speed: 'fast' };

const WITHIN_MS = 20_000;

/** A service over a node that makes blocks only when told to, with one funded relayer. */
export interface LifecycleStage {
  anvil: Anvil;
  service: StartedService;
  /** The paths of the relayer and of its transactions. */
  relayer: string;
  transactions: string;
  /** The relayer's account, in lower case. */
  address: string;
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody }>;
  /** Sends a transaction. Resolves with its id. */
  send(body?: object): Promise<string>;
  get(id: string): Promise<AnswerBody>;
  until(id: string, what: string, holds: (transaction: AnswerBody) => boolean | Promise<boolean>): Promise<AnswerBody>;
  /** Waits until the node's pool has the version that the API shows. `holds` can say which version that has to be. */
  untilPooled(id: string, holds?: (transaction: AnswerBody) => boolean): Promise<AnswerBody>;
  /** Makes blocks until the transaction has the status. */
  mineUntil(id: string, status: string): Promise<AnswerBody>;
  balance(address: string): Promise<bigint>;
  /** How many of the account's nonces are used in blocks. */
  usedNonces(): Promise<number>;
}

/** Starts a node and a service with relayer `local-1`. Both end with the test. `via` can put a front between them. */
export async function lifecycleStage(
  t: Test,
  options: WorkspaceOptions = {},
  via: (url: string) => Promise<string> = async (url) => url,
): Promise<LifecycleStage> {
  const next = await lifecycleStages(t, 1, options, via);
  return next();
}

/**
 * Makes stages for several relayers, each with its own account. The returned function gives one stage after the other.
 * The previous stage has to be finished first, because {@link RECEIVER} and {@link OTHER} must be empty.
 */
export async function lifecycleStages(
  t: Test,
  accounts: number,
  options: WorkspaceOptions = {},
  via: (url: string) => Promise<string> = async (url) => url,
): Promise<() => Promise<LifecycleStage>> {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: await via(anvil.url), accounts, ...options });
  t.teardown(() => workspace.remove());
  const setBalance = (of: string, wei: bigint) => anvil.rpc('anvil_setBalance', [of, `0x${wei.toString(16)}`]);
  for (const address of workspace.addresses) await setBalance(address, 10n ** 20n);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const left = [...workspace.addresses.entries()];
  return async () => {
    const [index, address] = left.shift() ?? [];
    if (index === undefined || address === undefined) throw new Error(`there are only ${accounts} relayers`);
    for (const payee of [RECEIVER, OTHER]) await setBalance(payee, 0n);
    return stageOver(anvil, service, address, `local-${index + 1}`);
  };
}

/** A stage over a running service. */
export function stageOver(anvil: Anvil, service: StartedService, address: string, id = 'local-1'): LifecycleStage {
  const relayer = `/api/v1/relayers/${id}`;
  const transactions = `${relayer}/transactions`;
  const ask = (method: string, path: string, body?: unknown) => service.request(method, path, body);

  async function get(id: string): Promise<AnswerBody> {
    return (await ask('GET', `${transactions}/${id}`)).body.data;
  }

  async function until(id: string, what: string, holds: (transaction: AnswerBody) => boolean | Promise<boolean>) {
    const end = Date.now() + WITHIN_MS;
    for (;;) {
      const transaction = await get(id);
      if (await holds(transaction)) return transaction;
      if (Date.now() > end) {
        throw new Error(`not ${what}: ${JSON.stringify(transaction)}\n${service.output().slice(-3000)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  return {
    anvil,
    service,
    relayer,
    transactions,
    address,
    ask,
    get,
    until,
    async send(body = TRANSFER) {
      const answer = await ask('POST', transactions, body);
      if (answer.status !== 200) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
      return answer.body.data.id;
    },
    untilPooled: (id, holds = () => true) =>
      until(id, 'in the pool', async (transaction) => {
        if (transaction.status !== 'submitted' || !holds(transaction)) return false;
        return (await anvil.rpc('eth_getTransactionByHash', [transaction.hash])) !== null;
      }),
    async mineUntil(id, status) {
      return await until(id, status, async (transaction) => {
        if (transaction.status === status) return true;
        await anvil.rpc('evm_mine');
        return false;
      });
    },
    balance: async (of) => BigInt(String(await anvil.rpc('eth_getBalance', [of, 'latest']))),
    usedNonces: async () => Number(await anvil.rpc('eth_getTransactionCount', [address, 'latest'])),
  };
}

/** Whether the API shows a transaction that does nothing any more. */
export function isVoid(address: string): (transaction: AnswerBody) => boolean {
  return ({ to, value, is_canceled: isCanceled }) => isCanceled && to === address && value === '0x0';
}
