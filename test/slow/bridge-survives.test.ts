/** Threat: the service dies while the example's bridge waits between burn and mint, and the money is gone, or minted twice. */
import { cp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Interface, JsonRpcProvider, toQuantity } from 'ethers';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/service.ts';
import { smallContract } from '../support/small-contract.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const EXAMPLE = join(root, 'examples', 'bridge');
const [BURNER, MINTER, RECEIVER] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`, `0x${'cc'.repeat(20)}`];

t.test(
  'a bridge whose service is killed in each of its waits burns once and mints once',
  { timeout: 240_000 },
  async (t) => {
    const anvil = await startAnvil({ blockTime: 0.2 });
    t.teardown(() => anvil.stop());
    const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true });
    t.teardown(() => node.destroy());
    await node.send('anvil_setCode', [BURNER, smallContract({ 'burn(uint256,address,bytes32)': { notes: 0 } })]);
    await node.send('anvil_setCode', [MINTER, smallContract({ 'mint(bytes,bytes)': { notes: 0 } })]);

    const asked: string[] = [];
    let isAttested = false;
    const attestations = createServer(({ url = '' }, answer) => {
      asked.push(url.slice(1));
      answer.setHeader('content-type', 'application/json');
      answer.end(
        JSON.stringify({ status: isAttested ? 'complete' : 'pending', message: '0x1234', attestation: '0x5678' }),
      );
    });
    await new Promise<void>((resolve) => attestations.listen(0, '127.0.0.1', resolve));
    t.teardown(() => attestations.close());
    const host = `127.0.0.1:${(attestations.address() as AddressInfo).port}`;

    const [, json = ''] = /```json\n([^]*?)```/.exec(await readFile(join(EXAMPLE, 'README.md'), 'utf8')) ?? [];
    const entry = JSON.parse(json) as { permissions: object };
    const send = (recipient: string) => ({ methods: ['read', 'send'], recipients: [recipient] });
    const workspace = await createWorkspace({
      rpcUrl: anvil.url,
      accounts: 2,
      network: { required_confirmations: 2 },
      plugins: [
        {
          ...entry,
          config: {
            ...{ from: 'local-1', to: 'local-2', burner: BURNER, minter: MINTER, poll_seconds: 1 },
            attestations: `http://${host}`,
          },
          permissions: {
            relayers: { 'local-1': send(BURNER), 'local-2': send(MINTER) },
            hosts: [{ host, private: true }],
          },
        },
      ],
    });
    t.teardown(() => workspace.remove());
    await cp(EXAMPLE, join(workspace.dir, 'plugins', 'bridge'), { recursive: true });
    await cp(join(root, 'node_modules', 'ethers'), join(workspace.dir, 'node_modules', 'ethers'), { recursive: true });
    for (const name of ['@noble', '@adraffy', 'aes-js', 'tslib', 'ws']) {
      await cp(join(root, 'node_modules', name), join(workspace.dir, 'node_modules', name), { recursive: true });
    }
    for (const address of workspace.addresses) await node.send('anvil_setBalance', [address, toQuantity(10n ** 18n)]);

    let service = await startService(workspace.env);
    t.teardown(() => service.end());
    const again = async () => {
      await service.kill();
      service = await startService(workspace.env);
    };
    const accepted = await fetch(`${service.url}/api/v1/plugins/bridge/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        prefer: 'respond-async',
      },
      body: JSON.stringify({ params: { amount: '5', receiver: RECEIVER } }),
    });
    t.equal(accepted.status, 202, await accepted.clone().text());
    const location = new URL(accepted.headers.get('location') ?? '', `${service.url}/api/v1/`).pathname;
    const state = async () => {
      const { body } = await service.request('GET', location);
      return body.data as { state: string; answer?: unknown; error?: unknown };
    };

    // While it waits for the burn, then for the attestation, then for the mint.
    await eventually(
      () => node.getTransactionCount(workspace.addresses[0] ?? ''),
      (count) => count > 0,
      30_000,
    );
    await again();
    await eventually(
      () => asked.length,
      (count) => count > 1,
      60_000,
    );
    await again();
    isAttested = true;
    await eventually(
      () => node.getTransactionCount(workspace.addresses[1] ?? ''),
      (count) => count > 0,
      60_000,
    );
    await again();
    const ended = await eventually(state, (call) => call.state === 'returned' || call.state === 'threw', 60_000);
    t.equal(ended.state, 'returned', JSON.stringify(ended));
    for (const address of workspace.addresses) t.equal(await node.getTransactionCount(address), 1, 'each sent once');
    t.equal(new Set(asked).size, 1, 'it always asked for the same burn');
    const burn = await node.getTransaction(asked[0] ?? '');
    const [amount, receiver] = new Interface(['function burn(uint256,address,bytes32)']).decodeFunctionData(
      'burn',
      burn?.data ?? '0x',
    );
    t.strictSame([amount, String(receiver).toLowerCase()], [5n, RECEIVER]);
    t.match(JSON.stringify(ended), asked[0], 'the answer of a twin that nobody killed');
  },
);
