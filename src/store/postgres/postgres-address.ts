import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity, getCACertificates } from 'node:tls';
import pg from 'pg';
import { databaseErrorReason, isConnectionTrouble } from './postgres-errors.ts';

/** Options of a TLS connection; false: in clear. */
type Encryption = ConnectionOptions | false;

/** How to reach the server of a `DATABASE_URL`. */
export interface PostgresAddress {
  /** The URL without the parameters of TLS. */
  url: string;
  /** Host and port, or the folder of a local socket. Never the user or the password. */
  place: string;
  /** The encryptions that `sslmode` allows, in the order in which they are tried. */
  encryptions: [Encryption, ...Encryption[]];
  /** Whether TLS begins at once, without asking the server. */
  isDirect: boolean;
}

/** https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION; `no-verify` is that of older versions. */
const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type Mode = (typeof MODES)[number];

/** The parameters that are read here. `pg` would read them in another way. */
const OWN_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslnegotiation'];

const DEFAULT_PORT = '5432';

/**
 * Reads a `DATABASE_URL`. Its parameters of TLS mean what they mean to libpq: `require` encrypts and does not check who
 * the server is, unless `sslrootcert` is given; `verify-ca` checks the certificate, `verify-full` also its host name;
 * without `sslmode` it is `prefer`. A local socket is never encrypted.
 * @param env has `PGSSLMODE` and `PGSSLROOTCERT`, the defaults
 * @throws Error in the operator's words; it never shows the password
 */
export function postgresAddress(url: string, env: NodeJS.ProcessEnv): PostgresAddress {
  const [base = '', ...rest] = url.split('?');
  const parameters = new URLSearchParams(rest.join('?'));
  const given = new Map(OWN_PARAMETERS.map((name) => [name, parameters.get(name) || undefined]));
  for (const name of OWN_PARAMETERS) parameters.delete(name);
  // `pg` warns programmers of how it reads the modes.
  parameters.delete('uselibpqcompat');
  const query = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const { host, port } = serverOf(base, parameters);
  const address = { url: base + query, isDirect: given.get('sslnegotiation') === 'direct' };
  if (host.startsWith('/')) return { ...address, isDirect: false, place: `socket ${host}`, encryptions: [false] };
  const mode = modeOf(given.get('sslmode') ?? aliasOf(given.get('ssl')) ?? (env['PGSSLMODE'] || 'prefer'));
  const rootFile = given.get('sslrootcert') ?? (env['PGSSLROOTCERT'] || undefined);
  const encryptions = encryptionsOf(mode, { host, rootFile, given });
  return { ...address, place: `${host}:${port}`, encryptions };
}

/** Of `pg`: `ssl=true` checks everything. */
function aliasOf(ssl: string | undefined): string | undefined {
  if (ssl === 'true' || ssl === '1') return 'verify-full';
  return ssl === 'false' || ssl === '0' ? 'disable' : ssl;
}

function modeOf(text: string): Mode {
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw new Error(`DATABASE_URL: sslmode is one of ${MODES.slice(0, -1).join(', ')}`);
  return mode;
}

function serverOf(base: string, parameters: URLSearchParams): { host: string; port: string } {
  // No host: a local socket, or `host` among the parameters.
  const whole = /^\w+:\/\/([^/]*@)?(\/|$)/.test(base) ? base.replace(/^(\w+:\/\/)([^/]*@)?/, '$1$2none') : base;
  if (!URL.canParse(whole)) {
    throw new Error('DATABASE_URL cannot be read: write special characters of user and password as %-codes');
  }
  const { hostname, port } = new URL(whole);
  const host = parameters.get('host') ?? decodeURIComponent(hostname === 'none' ? 'localhost' : hostname);
  return { host: host.replace(/^\[(.+)\]$/, '$1'), port: parameters.get('port') ?? (port || DEFAULT_PORT) };
}

interface TlsParameters {
  host: string;
  rootFile: string | undefined;
  given: ReadonlyMap<string, string | undefined>;
}

function encryptionsOf(mode: Mode, { host, rootFile, given }: TlsParameters): PostgresAddress['encryptions'] {
  if (mode === 'disable') return [false];
  if (mode === 'verify-ca' && (rootFile === undefined || rootFile === 'system')) {
    // Anybody can get a certificate of a public CA, for a host of his own.
    throw new Error('DATABASE_URL: sslmode=verify-ca needs sslrootcert=FILE; for a public CA use sslmode=verify-full');
  }
  const own: ConnectionOptions = {};
  for (const [name, option] of [
    ['sslcert', 'cert'],
    ['sslkey', 'key'],
  ] as const) {
    const file = given.get(name);
    if (file !== undefined) own[option] = readText(name, file);
  }
  const passphrase = given.get('sslpassword');
  if (passphrase !== undefined) own.passphrase = passphrase;
  if (mode !== 'no-verify' && rootFile !== undefined) {
    own.ca = rootFile === 'system' ? getCACertificates('system') : readText('sslrootcert', rootFile);
  }
  const unchecked: ConnectionOptions = { ...own, rejectUnauthorized: false };
  switch (mode) {
    case 'allow':
      return [false, unchecked];
    case 'prefer':
      return [unchecked, false];
    case 'verify-full':
      return [{ ...own, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) }];
    default:
      return [own.ca === undefined ? unchecked : { ...own, checkServerIdentity: () => undefined }];
  }
}

function readText(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`DATABASE_URL: ${parameter} names ${file}, which cannot be read: ${databaseErrorReason(cause)}`, {
      cause,
    });
  }
}

/** The part of a `pg` configuration that says where the server is, and how it is spoken to. */
export function clientConfig(
  { url, isDirect }: PostgresAddress,
  encryption: Encryption,
): Pick<pg.ClientConfig, 'connectionString' | 'ssl'> {
  const negotiation = isDirect && encryption !== false ? { sslnegotiation: 'direct' } : {};
  return { connectionString: url, ssl: encryption, ...negotiation };
}

/**
 * The first encryption with which the server takes a connection. With one alone it is not tried.
 * @throws what the first try met, or the second one when the server has no TLS
 */
export async function chooseEncryption(address: PostgresAddress, limits: pg.ClientConfig): Promise<Encryption> {
  const [first, ...others] = address.encryptions;
  if (others.length === 0) return first;
  let failure: unknown;
  for (const encryption of address.encryptions) {
    const client = new pg.Client({ ...limits, ...clientConfig(address, encryption) });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return encryption;
    } catch (cause) {
      if (isConnectionTrouble(cause)) throw cause;
      if (failure === undefined || HAS_NO_TLS.test(databaseErrorReason(failure))) failure = cause;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  throw failure;
}

const HAS_NO_TLS = /does not support SSL connections/;

/** Codes of Node for a certificate that cannot be traced to a trusted one. */
const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_UNTRUSTED)$/;

/** Errors of the server about the URL itself: authentication, rights, the database's name. */
const REFUSALS = /^(28...|3D000|42501|55000)$/;

/** Says where a start failed, and what to do. Other errors are returned as they are. */
export function explainConnectFailure(cause: unknown, { place }: PostgresAddress): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = databaseErrorReason(cause);
  const saying = (text: string) => new Error(`DATABASE_URL (server ${place}): ${text}`, { cause });
  if (UNTRUSTED.test(code)) {
    return saying(
      `the certificate comes from a CA that is not known here (${reason}). Give that CA with sslrootcert=FILE; sslmode=require alone encrypts without checking`,
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return saying(`the certificate is for another host name (${reason}). Use that name, or sslmode=verify-ca`);
  }
  if (HAS_NO_TLS.test(reason)) {
    return saying('the server has no TLS. Switch it on there (ssl = on), or use sslmode=prefer or sslmode=disable');
  }
  if (/no encryption|SSL off/.test(reason)) return saying(`${reason}. The server wants TLS: use sslmode=require`);
  if (/^(CERT_|ERR_SSL_|ERR_TLS_|ERR_OSSL_)/.test(code)) return saying(`TLS failed: ${reason}`);
  return REFUSALS.test(code) ? saying(reason) : cause;
}
