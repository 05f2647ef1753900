import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import type { Target } from './load.ts';

/** A server that the service is compared with. */
export interface Peer {
  target: Target;
  stop(): Promise<void>;
}

const BODY = JSON.stringify({ params: { name: 'bench' } });

/** A fastify server with one empty route. */
export interface EmptyRoute extends Peer {
  /** The longest delay of its event loop since the last query, in milliseconds. Mostly caused by the machine. */
  longestStallMs(): Promise<number>;
}

/** Starts the empty route, to measure the cost of HTTP alone on this machine. */
export async function startEmptyRoute(): Promise<EmptyRoute> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'empty-route.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  const url = chunk.toString().trim();
  return {
    target: { name: 'empty fastify route', pid: child.pid ?? 0, url, headers: {}, body: BODY },
    longestStallMs: async () => {
      const { body } = await request(`${url}/stall`);
      return ((await body.json()) as { longestMs: number }).longestMs;
    },
    stop: () => end(child),
  };
}

/** Starts workerd, Cloudflare's runtime, with the handler of `plugins/hello.ts`. @throws if it is not installed */
export async function startWorkerd(): Promise<Peer> {
  const binary = join(
    import.meta.dirname,
    '..',
    '..',
    '..',
    'node_modules',
    '@cloudflare',
    'workerd-linux-64',
    'bin',
    'workerd',
  );
  if (!existsSync(binary)) throw new Error(`workerd is not installed: ${binary} does not exist`);
  const folder = await mkdtemp(join(tmpdir(), 'isolayer-workerd-'));
  const port = await freePort();
  await writeFile(join(folder, 'worker.js'), WORKER);
  await writeFile(join(folder, 'config.capnp'), configurationFor(port));
  const child = spawn(binary, ['serve', join(folder, 'config.capnp')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}/`;
  await answers(url);
  return {
    target: { name: 'workerd, same handler', pid: child.pid ?? 0, url, headers: {}, body: BODY },
    stop: async () => {
      await end(child);
      await rm(folder, { recursive: true });
    },
  };
}

const WORKER = `export default {
  async fetch(request) {
    const { params } = await request.json();
    const { name = 'world' } = params;
    console.info(\`greeting \${name}\`);
    return Response.json({
      success: true,
      data: { greeting: \`Hello, \${name}!\`, route: '', method: request.method },
      error: null,
    });
  },
};`;

function configurationFor(port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .hello)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const hello :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2025-01-01"
);`;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

async function answers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await fetch(url, { method: 'POST', body: BODY });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`nothing answers at ${url}`);
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
