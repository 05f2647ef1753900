import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';

/** A TLS server for `localhost` that passes JSON on. */
export interface TlsFront {
  readonly url: string;
  /** A file with the certificate to trust. */
  readonly certificate: string;
}

/** It ends with the test. */
export async function startTlsFront(t: Test, target: string): Promise<TlsFront> {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-tls-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', ['req', '-x509', '-nodes', '-days', '2', ...curve, ...names, ...files]);
  const secrets = { key: await readFile(key), cert: await readFile(certificate) };
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray());
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(target, { method: 'POST', headers, body });
    response.writeHead(answer.status, headers).end(await answer.text());
  };
  const front = createServer(secrets, (request, response) => {
    pass(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    front.close();
    front.closeAllConnections();
  });
  return { url: `https://localhost:${(front.address() as AddressInfo).port}`, certificate };
}
