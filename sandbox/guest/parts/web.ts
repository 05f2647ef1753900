import { createBlobClasses } from '../globals/fetch/blob.ts';
import { createBodyClass } from '../globals/fetch/body.ts';
import { createFetch } from '../globals/fetch/fetch.ts';
import { createFormDataClass } from '../globals/fetch/form-data.ts';
import { Headers } from '../globals/fetch/headers.ts';
import { createRequestClass } from '../globals/fetch/request.ts';
import { createResponseClass } from '../globals/fetch/response.ts';
import type { PartWorld } from '../part-world.ts';

/** fetch and the classes around it, which refer to each other. */
export function part({ classes, asker, streams, loadedStreams }: PartWorld): Record<string, unknown> {
  const blobs = createBlobClasses(streams);
  const FormData = createFormDataClass(blobs);
  const world = { ...classes, blobs, FormData, streams, loadedStreams };
  const body = createBodyClass(world);
  const request = createRequestClass(world, body);
  const response = createResponseClass(world, body);
  return {
    fetch: createFetch(asker, { world, body, request, response }),
    Headers,
    Request: request.Request,
    Response: response.Response,
    Blob: blobs.Blob,
    File: blobs.File,
    FormData,
    copyBlob: blobs.copy,
  };
}
