/**
 * The entry of the thread that reads Scalar's script. The script's package exports it only through a fastify plugin. So
 * this thread asks a fastify server that never listens.
 */
import { parentPort } from 'node:worker_threads';
import { constants, gzipSync } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

const app = fastify();
await app.register(scalar, { routePrefix: '/scalar', configuration: { url: '/' } });
const { statusCode, rawPayload } = await app.inject('/scalar/js/scalar.js');
if (statusCode !== 200) throw new Error(`The script of the API reference is not where it was: ${statusCode}`);
parentPort?.postMessage(gzipSync(rawPayload, { level: constants.Z_BEST_COMPRESSION }));
