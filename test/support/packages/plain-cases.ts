import type { PackageCase } from './package-case.ts';

/** Requests and formats. */
export const requests: PackageCase[] = [
  {
    name: 'axios',
    imports: "import axios, { AxiosError } from 'axios';",
    body: `const client = axios.create({ baseURL: 'https://a.example/', params: { a: 1 }, adapter: async (config) => ({ data: JSON.stringify({ url: axios.getUri(config), sent: config.data }), status: 200, headers: {}, config }) });
      client.interceptors.request.use((config) => { config.headers.set('x-a', 'b'); return config; });
      const { data, config } = await client.post('/p', { b: [1] }); const refused = axios.create({ adapter: async () => { throw new AxiosError('no', 'ECODE'); } });
      return [data, config.headers.get('x-a'), await refused.get('https://a.example').catch((error) => [axios.isAxiosError(error), error.code, error.message])];`,
  },
  {
    name: 'ky',
    imports: "import ky from 'ky';",
    body: "const client = ky.create({ prefixUrl: 'https://a.example', retry: 0, fetch: async (request) => new Response(JSON.stringify({ url: request.url, method: request.method, body: await request.text() }), { status: request.url.endsWith('no') ? 404 : 200 }) }); return [await client.post('p', { json: { a: 1 }, searchParams: { q: 'ü' } }).json(), await client.get('no').catch((error) => [error.name, error.response.status])];",
  },
  {
    name: 'cross-fetch',
    imports: "import crossFetch, { Headers as Own, Response as Answer } from 'cross-fetch';",
    body: "return [typeof crossFetch, new Own({ A: 'b' }).get('a'), await new Answer('{\"a\":1}').json()];",
  },
  {
    name: 'graphql',
    imports: "import { buildSchema, graphqlSync, parse, print } from 'graphql';",
    body: "const schema = buildSchema('type Query { sum(a: Int!, b: Int!): Int }'); return [graphqlSync({ schema, source: '{ sum(a: 1, b: 2) }', rootValue: { sum: ({ a, b }) => a + b } }).data.sum, print(parse('{a{b}}'))];",
  },
  {
    name: 'qs',
    imports: "import qs from 'qs';",
    body: "return [qs.stringify({ a: { b: [1, 2] }, c: 'ü' }), qs.parse('a[b][]=1&a[b][]=2&c=%C3%BC')];",
  },
  {
    name: 'fast-xml-parser',
    imports: "import { XMLBuilder, XMLParser } from 'fast-xml-parser';",
    body: 'const parsed = new XMLParser({ ignoreAttributes: false }).parse(\'<a x="1"><b>2</b><b>3</b></a>\'); return [parsed, new XMLBuilder().build({ a: { b: 1 } })];',
  },
  {
    name: 'papaparse',
    imports: "import Papa from 'papaparse';",
    body: "return [Papa.parse('a,b\\n1,\"x,y\"', { header: true, dynamicTyping: true }).data, Papa.unparse([{ a: 1, b: 'x,y' }])];",
  },
  {
    name: 'yaml',
    imports: "import { parse, stringify } from 'yaml';",
    body: "return [parse('a: [1, two]\\nb:\\n  c: 2001-01-01'), stringify({ a: [1, { b: 'x' }] })];",
  },
];

/** Validation. */
export const validation: PackageCase[] = [
  {
    name: 'zod',
    imports: "import { z } from 'zod';",
    body: "const schema = z.object({ to: z.string().regex(/^0x/), value: z.coerce.bigint().default(1n), at: z.iso.datetime().optional() }).strict(); return [schema.parse({ to: '0x1', value: '5' }), schema.safeParse({ to: 1, more: true }).error.issues.map(({ path, message }) => [path, message])];",
  },
  {
    name: 'yup',
    imports: "import * as yup from 'yup';",
    body: "const schema = yup.object({ a: yup.number().required().min(2), b: yup.string().email() }); return [await schema.validate({ a: '3' }), await schema.validate({ a: 1, b: 'x' }, { abortEarly: false }).catch((error) => error.errors)];",
  },
  {
    name: 'joi',
    imports: "import Joi from 'joi';",
    body: "const schema = Joi.object({ a: Joi.number().min(2).required(), b: Joi.string().email({ tlds: false }) }); return [schema.validate({ a: '3' }).value, schema.validate({ a: 1 }).error.message];",
  },
  {
    name: 'superstruct',
    imports: "import { array, assert, is, number, object, string } from 'superstruct';",
    body: "const schema = object({ a: array(number()), b: string() }); try { assert({ a: ['x'], b: 1 }, schema); } catch (error) { return [is({ a: [1], b: 'x' }, schema), error.message, error.path]; }",
  },
  {
    name: 'valibot',
    imports: "import * as v from 'valibot';",
    body: "const schema = v.object({ a: v.pipe(v.string(), v.minLength(2)) }); return [v.parse(schema, { a: 'xy' }), v.safeParse(schema, { a: 'x' }).issues.map(({ message }) => message)];",
  },
  {
    name: 'ajv',
    imports: "import { Ajv } from 'ajv';",
    body: "const validate = new Ajv({ allErrors: true }).compile({ type: 'object', properties: { a: { type: 'integer', minimum: 2 } }, required: ['a'] }); return [validate({ a: 3 }), validate({ a: 1 }), validate.errors.map(({ message }) => message)];",
  },
  {
    name: 'validator',
    imports: "import validator from 'validator';",
    body: "return [validator.isEmail('a@b.co'), validator.isURL('https://x.example'), validator.isEthereumAddress('0x' + '1'.repeat(40)), validator.escape('<a>')];",
  },
];

/** Values and texts. */
export const values: PackageCase[] = [
  {
    name: 'lodash',
    imports: "import _ from 'lodash';",
    body: "return [_.groupBy([1, 2, 3], (n) => n % 2), _.merge({ a: { b: 1 } }, { a: { c: 2 } }), _.template('<%= a %>!')({ a: 1 }), _.chunk([1, 2, 3], 2), _.cloneDeep(new Map([[1, { a: new Date(0) }]]))];",
  },
  {
    name: 'lodash-es',
    imports: "import { camelCase, get, orderBy, set } from 'lodash-es';",
    body: "return [camelCase('a-b c'), get({ a: [{ b: 1 }] }, 'a[0].b'), orderBy([{ a: 2 }, { a: 1 }], 'a'), set({}, 'a.b', 1)];",
  },
  {
    name: 'ramda',
    imports: "import * as R from 'ramda';",
    body: "return [R.pipe(R.filter((n) => n > 1), R.map(R.add(1)), R.sum)([1, 2, 3]), R.path(['a', 'b'], { a: { b: 1 } }), R.equals({ a: [1] }, { a: [1] })];",
  },
  {
    name: 'dayjs',
    imports: "import dayjs from 'dayjs'; import utc from 'dayjs/plugin/utc.js';",
    body: "dayjs.extend(utc); return [dayjs.utc(0).add(1, 'month').format('YYYY-MM-DD HH:mm'), dayjs.utc('2020-02-29').diff(dayjs.utc(0), 'day')];",
  },
  {
    name: 'luxon',
    imports: "import { DateTime, Duration } from 'luxon';",
    body: "return [DateTime.fromMillis(0, { zone: 'utc' }).plus({ months: 1 }).toISO(), DateTime.fromISO('2020-05-05T10:00', { zone: 'America/New_York' }).toUTC().toISO(), Duration.fromObject({ hours: 30 }).shiftTo('days', 'hours').toObject()];",
  },
  {
    name: 'uuid',
    imports: "import { v4, v5, validate } from 'uuid';",
    body: "return [v5('a', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'), validate(v4())];",
  },
  {
    name: 'nanoid',
    imports: "import { customAlphabet, nanoid } from 'nanoid';",
    body: "return [nanoid().length, customAlphabet('a', 5)()];",
  },
  {
    name: 'ulid',
    imports: "import { decodeTime, ulid } from 'ulid';",
    body: 'const made = ulid(1469918176385); return [made.length, made.slice(0, 10), decodeTime(made)];',
  },
  { name: 'ms', imports: "import ms from 'ms';", body: "return [ms('2 days'), ms(60000, { long: true })];" },
  {
    name: 'debug',
    imports: "import debug from 'debug';",
    body: "const log = debug('a:b'); log('quiet'); return [log.enabled, log.namespace, typeof log.extend('c')];",
  },
  {
    name: 'semver',
    imports: "import semver from 'semver';",
    body: "return [semver.satisfies('1.2.3', '^1.1'), semver.inc('1.2.3', 'minor'), semver.sort(['2.0.0', '1.0.0'])];",
  },
  {
    name: 'immer',
    imports: "import { enablePatches, produce, produceWithPatches } from 'immer';",
    body: 'enablePatches(); return [produce({ a: [1] }, (draft) => { draft.a.push(2); }), produceWithPatches({ a: 1 }, (draft) => { draft.a = 2; })];',
  },
  {
    name: 'deepmerge',
    imports: "import deepmerge from 'deepmerge';",
    body: 'return deepmerge({ a: [1], b: { c: 1 } }, { a: [2], b: { d: 2 } });',
  },
  {
    name: 'json-stable-stringify',
    imports: "import stringify from 'json-stable-stringify';",
    body: 'return stringify({ b: 1, a: [{ d: 1, c: 2 }] });',
  },
  {
    name: 'object-hash',
    imports: "import hash from 'object-hash';",
    body: "return [hash({ b: 1, a: [new Date(0)] }), hash('x', { algorithm: 'md5', encoding: 'base64' })];",
  },
  {
    name: 'mustache',
    imports: "import Mustache from 'mustache';",
    body: "return Mustache.render('{{#a}}{{.}}, {{/a}}{{b}}', { a: [1, 2], b: '<' });",
  },
  {
    name: 'handlebars',
    imports: "import Handlebars from 'handlebars';",
    body: "return Handlebars.compile('{{#each a}}{{this}} {{/each}}{{b}}')({ a: [1, 2], b: '<' });",
  },
  {
    name: 'tslib',
    imports: "import { __awaiter, __extends, __rest } from 'tslib';",
    body: "function A() {} function B() {} __extends(B, A); return [new B() instanceof A, __rest({ a: 1, b: 2 }, ['a']), await __awaiter(undefined, [], Promise, function* () { return yield Promise.resolve(3); })];",
  },
  {
    name: 'iconv-lite',
    imports: "import iconv from 'iconv-lite';",
    body: "return [iconv.encode('é€', 'windows-1252'), iconv.decode(Buffer.from([0x82, 0xa0]), 'shift_jis'), iconv.encodingExists('utf7')];",
  },
];

/** Flow, tokens and compression. */
export const flow: PackageCase[] = [
  {
    name: 'p-limit',
    imports: "import pLimit from 'p-limit';",
    body: 'const limit = pLimit(2); let most = 0, now = 0; await Promise.all([1, 2, 3, 4].map((n) => limit(async () => { most = Math.max(most, ++now); await new Promise((done) => setTimeout(done, 1)); now--; return n; }))); return most;',
  },
  {
    name: 'p-queue',
    imports: "import PQueue from 'p-queue';",
    body: 'const queue = new PQueue({ concurrency: 1 }); const seen = []; for (const n of [1, 2, 3]) queue.add(async () => { seen.push(n); }, { priority: n }); await queue.onIdle(); return seen;',
  },
  {
    name: 'async-mutex',
    imports: "import { Mutex, Semaphore } from 'async-mutex';",
    body: 'const mutex = new Mutex(); const seen = []; await Promise.all([1, 2].map((n) => mutex.runExclusive(async () => { seen.push(n); await null; seen.push(n); }))); return [seen, new Semaphore(2).getValue()];',
  },
  {
    name: 'bottleneck',
    imports: "import Bottleneck from 'bottleneck';",
    body: 'const limiter = new Bottleneck({ maxConcurrent: 1 }); return Promise.all([1, 2, 3].map((n) => limiter.schedule(async () => n * 2)));',
  },
  {
    name: 'eventemitter3',
    imports: "import EventEmitter from 'eventemitter3';",
    body: "const seen = []; const emitter = new EventEmitter(); emitter.once('a', (n) => seen.push(n)); return [emitter.emit('a', 1), emitter.emit('a', 2), seen];",
  },
  {
    name: 'mitt',
    imports: "import mitt from 'mitt';",
    body: "const seen = []; const emitter = mitt(); emitter.on('*', (type, n) => seen.push([type, n])); emitter.emit('a', 1); return seen;",
  },
  {
    name: 'rxjs',
    imports: "import { firstValueFrom, from, interval, map, take, toArray } from 'rxjs';",
    body: 'return [await firstValueFrom(from([1, 2, 3]).pipe(map((n) => n * 2), toArray())), await firstValueFrom(interval(1).pipe(take(3), toArray()))];',
  },
  {
    name: 'jose',
    imports: "import { CompactEncrypt, compactDecrypt, importJWK, jwtVerify, SignJWT } from 'jose';",
    body: `const secret = new TextEncoder().encode('a secret that is long enough for it'); const token = await new SignJWT({ a: 1 }).setProtectedHeader({ alg: 'HS256' }).setIssuedAt(1).sign(secret);
      const jwk = await importJWK({ kty: 'OKP', crv: 'Ed25519', d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }, 'EdDSA');
      const signed = await new SignJWT({ b: 2 }).setProtectedHeader({ alg: 'EdDSA' }).sign(jwk);
      const sealed = await new CompactEncrypt(new TextEncoder().encode('hi')).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(new Uint8Array(32));
      return [token, (await jwtVerify(token, secret)).payload, signed, new TextDecoder().decode((await compactDecrypt(sealed, new Uint8Array(32))).plaintext)];`,
  },
  {
    name: 'jsonwebtoken',
    imports: "import jwt from 'jsonwebtoken';",
    body: "const token = jwt.sign({ a: 1, iat: 1 }, 'secret'); return [token, jwt.verify(token, 'secret', { ignoreExpiration: true }), jwt.decode(token)];",
  },
  {
    name: 'crypto-js',
    imports: "import CryptoJS from 'crypto-js';",
    body: "return [CryptoJS.SHA256('a').toString(), CryptoJS.HmacSHA512('a', 'k').toString(CryptoJS.enc.Base64), CryptoJS.AES.decrypt(CryptoJS.AES.encrypt('hi', 'pass').toString(), 'pass').toString(CryptoJS.enc.Utf8)];",
  },
  {
    name: 'pako',
    imports: "import * as pako from 'pako';",
    body: "const packed = pako.gzip('a'.repeat(1000)); return [packed.length, pako.ungzip(packed).length, pako.deflateRaw('abc')];",
  },
  {
    name: 'fflate',
    imports: "import { gunzipSync, gzipSync, strFromU8, strToU8, unzipSync, zipSync } from 'fflate';",
    body: "return [strFromU8(gunzipSync(gzipSync(strToU8('hi'), { mtime: 0 }))), strFromU8(unzipSync(zipSync({ a: strToU8('x') })).a)];",
  },
];
