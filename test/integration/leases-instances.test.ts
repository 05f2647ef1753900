/**
 * The promise: several instances on one database are one service. What could break it: two that drive one account at
 * the same time, one that dies and takes its work with it, two that fill an empty database together.
 */
import t, { type Test } from 'tap';
import { type Instances, instancesFor } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import type { RunningService } from '../support/service.ts';

const TRANSACTIONS = '/api/v1/relayers/local-1/transactions';
const RECEIVER = '0x00000000000000000000000000000000000abcde';
const TRANSFER = { to: RECEIVER, value: '7', data: '0x', gas_limit: 21_000, speed: 'fast' };

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

interface Sent {
  id: string;
  status: string;
  nonce: number;
  hash: string;
}

/** Sends one after the other on each service, all services side by side. */
async function send(services: readonly RunningService[], count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  const sender = async (service: RunningService) => {
    while (left > 0) {
      left -= 1;
      const { status, body } = await service.request('POST', TRANSACTIONS, TRANSFER);
      if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`);
      ids.push(body.data.id);
    }
  };
  await Promise.all(services.flatMap((service) => Array.from({ length: 4 }, () => sender(service))));
  return ids;
}

async function listed(service: RunningService): Promise<Sent[]> {
  return (await service.request('GET', `${TRANSACTIONS}?per_page=500`)).body.data;
}

async function untilMined(service: RunningService, count: number): Promise<Sent[]> {
  const end = Date.now() + 45_000;
  for (;;) {
    const mined = (await listed(service)).filter(({ status }) => status === 'mined' || status === 'confirmed');
    if (mined.length >= count) return mined;
    if (Date.now() > end) throw new Error(`${mined.length} of ${count} are mined\n${service.output().slice(-4000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whether each was paid once, under nonces without a gap, and nothing else was. */
async function assertPaidOnce(t: Test, { anvil, address }: Instances, mined: readonly Sent[]): Promise<void> {
  const nonces = mined.map(({ nonce }) => nonce).sort((a, b) => a - b);
  t.strictSame(
    nonces,
    nonces.map((_, index) => index),
  );
  t.equal(new Set(mined.map(({ hash }) => hash)).size, mined.length);
  t.equal(Number(await anvil.rpc('eth_getTransactionCount', [address, 'pending'])), mined.length);
  t.equal(BigInt(String(await anvil.rpc('eth_getBalance', [RECEIVER, 'latest']))), 7n * BigInt(mined.length));
}

/** The instance that drives the relayer's account. */
function ownerOf(services: readonly RunningService[]): RunningService {
  const owners = services.filter((service) => /"lease":"evm:31337:.*lease taken/.test(service.output()));
  const [owner] = owners;
  if (owner === undefined || owners.length > 1) throw new Error(`${owners.length} instances took the lane`);
  return owner;
}

t.test('three that start together on an empty database share one relayer', async (t) => {
  const instances = await instancesFor(t, postgres);
  const services = await Promise.all([1, 2, 3].map(() => instances.start()));
  const [first, , third] = services;
  if (first === undefined || third === undefined) throw new Error('not started');
  const { body } = await third.request('GET', '/api/v1/relayers');
  t.match(body.data, [{ id: 'local-1', system_disabled: false, address: instances.address }]);
  t.equal(body.pagination.total_items, 1);

  const ids = await send(services, 100);
  t.equal(new Set(ids).size, 100);
  const mined = await untilMined(first, 100);
  t.strictSame(new Set(mined.map(({ id }) => id)), new Set(ids));
  await assertPaidOnce(t, instances, mined);
  ownerOf(services);
  t.strictSame(
    services.map((service) => /lane step failed|sweep failed|relayer check failed/.test(service.output())),
    [false, false, false],
  );
});

t.test('the owner is killed in the middle: the other finishes all', async (t) => {
  const instances = await instancesFor(t, postgres, { blockTime: 1 });
  const services = [await instances.start(), await instances.start()];
  await send(services, 40);
  const owner = ownerOf(services);
  await owner.kill();
  const rest = services.filter((service) => service !== owner);
  const [other] = rest;
  if (other === undefined) throw new Error('none is left');
  await send(rest, 20);
  await assertPaidOnce(t, instances, await untilMined(other, 60));
});

t.test('an instance that ends in good order hands its lanes over at once', async (t) => {
  const instances = await instancesFor(t, postgres);
  const services = [await instances.start(), await instances.start()];
  await send(services, 5);
  const owner = ownerOf(services);
  const [other] = services.filter((service) => service !== owner);
  if (other === undefined) throw new Error('none is left');
  t.equal(await owner.stop(), 0);
  await send([other], 5);
  await assertPaidOnce(t, instances, await untilMined(other, 10));
});
