import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { JsonRpcProvider, Wallet } from 'ethers';
import type { Test } from 'tap';
import { type Anvil, startAnvil } from './anvil.ts';
import { runTyped } from './command.ts';
import { composeService } from './composed-service.ts';
import { RECEIVER, TRANSFER } from './instances.ts';
import { type NodeFront, startNodeFront } from './node-front.ts';
import type { StartedService } from './service.ts';
import { createWorkspace, type Workspace, type WorkspaceOptions } from './workspace.ts';

/** Policies with which the relayer pays nothing, because gas is above the cap, and with which it pays. */
export const DEAR = { policies: { gas_price_cap: 1 } };
export const CHEAP = { policies: { gas_price_cap: 1_000_000_000_000 } };

export const LIMIT_MS = 60_000;

type SceneOptions = Pick<WorkspaceOptions, 'accounts' | 'plugins' | 'pluginFiles'>;

/** A service on a chain, whose data folder can be put back to an earlier moment. */
export class RestoredScene {
  readonly anvil: Anvil;
  readonly front: NodeFront;
  readonly workspace: Workspace;
  service!: StartedService;

  constructor(anvil: Anvil, front: NodeFront, workspace: Workspace) {
    this.anvil = anvil;
    this.front = front;
    this.workspace = workspace;
  }

  static async open(t: Test, { accounts = 1, ...more }: SceneOptions = {}): Promise<RestoredScene> {
    const anvil = await startAnvil({ blockTime: 0.1 });
    t.teardown(() => anvil.stop());
    const front = await startNodeFront(anvil);
    t.teardown(() => front.stop());
    const workspace = await createWorkspace({
      rpcUrl: front.url,
      accounts,
      ...more,
      network: { required_confirmations: 1 },
      env: { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
    });
    t.teardown(() => workspace.remove());
    for (const address of workspace.addresses) {
      await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 20n).toString(16)}`]);
    }
    const scene = new RestoredScene(anvil, front, workspace);
    await scene.start();
    t.teardown(() => scene.service.end());
    return scene;
  }

  async start(): Promise<void> {
    this.service = await composeService(this.workspace.env);
  }

  get dataDir(): string {
    return this.workspace.env['DATA_DIR'] ?? '';
  }

  /** Copies the data folder as a snapshot of the disk does, while the service runs. */
  async snapshot(): Promise<void> {
    await cp(this.dataDir, join(this.workspace.dir, 'copy'), { recursive: true });
  }

  /** Ends the service and puts the copy in its place: all of it, or the database's files alone. */
  async putBack(what: 'all' | 'database' = 'all'): Promise<void> {
    await this.service.end();
    const filter = (path: string) => what === 'all' || path.endsWith('copy') || /isolayer\.db(-wal)?$/.test(path);
    if (what === 'all') await rm(this.dataDir, { recursive: true });
    else for (const end of ['', '-wal', '-shm']) await rm(join(this.dataDir, `isolayer.db${end}`), { force: true });
    await cp(join(this.workspace.dir, 'copy'), this.dataDir, { recursive: true, filter });
  }

  /** Types a command of the service. */
  typed(...words: string[]) {
    return runTyped(this.workspace.dir, words, this.workspace.env);
  }

  async policies(body: object, relayer = 'local-1'): Promise<void> {
    const { status } = await this.service.request('PATCH', `/api/v1/relayers/${relayer}`, body);
    if (status !== 200) throw new Error(`policies not changed: ${status}`);
  }

  async accept(body: object = TRANSFER, relayer = 'local-1'): Promise<string> {
    const answer = await this.service.request('POST', `/api/v1/relayers/${relayer}/transactions`, body);
    if (answer.status !== 200) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
    return answer.body.data.id;
  }

  async get(id: string, relayer = 'local-1') {
    return (await this.service.request('GET', `/api/v1/relayers/${relayer}/transactions/${id}`)).body.data;
  }

  async until(
    id: string,
    holds: (data: { status: string; status_reason: string; hash: string }) => boolean,
    relayer = 'local-1',
  ) {
    const end = Date.now() + LIMIT_MS;
    for (;;) {
      const data = await this.get(id, relayer);
      if (holds(data)) return data;
      if (Date.now() > end) throw new Error(`${JSON.stringify(data)}\n${this.service.output().slice(-4000)}`);
      await delay(50);
    }
  }

  untilStatus(id: string, status: string, relayer = 'local-1') {
    return this.until(id, (data) => data.status === status, relayer);
  }

  /** The hashes of payments, once all are confirmed. */
  async confirmed(ids: readonly string[]): Promise<string[]> {
    const hashes = [];
    for (const id of ids) hashes.push((await this.untilStatus(id, 'confirmed')).hash);
    return hashes;
  }

  /** Accepts payments that wait below the price cap. */
  async waiting(bodies: readonly object[]): Promise<string[]> {
    await this.policies(DEAR);
    const ids = [];
    for (const body of bodies) ids.push(await this.accept(body));
    for (const id of ids) await this.until(id, (data) => /gas_price_cap/.test(data.status_reason));
    return ids;
  }

  async received(address = RECEIVER): Promise<bigint> {
    return BigInt(String(await this.anvil.rpc('eth_getBalance', [address, 'latest'])));
  }

  /** Sends something with the relayer's key, as another tool of the operator does. */
  async sendBesides(to: string, value: bigint): Promise<void> {
    const provider = new JsonRpcProvider(this.anvil.url, undefined, { staticNetwork: true });
    try {
      await (await new Wallet(this.workspace.privateKey, provider).sendTransaction({ to, value })).wait();
    } finally {
      provider.destroy();
    }
  }
}
