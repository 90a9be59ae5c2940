// SPDX-License-Identifier: MIT
//
// usage: node query.mjs DIRECTORY TRACE <QUERIES
//
// Perfetto's trace processor, as WebAssembly, reads a trace and answers SQL. DIRECTORY is what fetch.sh made. QUERIES has a
// line for each: NAME, a tab, SQL. Each row of an answer is a line: NAME, a tab, and the values with tabs between them; no
// rows make no line. It fails if the trace cannot be parsed or a query is wrong.

import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import {pathToFileURL} from 'node:url';

// The optimizing compiler would take 3 s for the module; the queries of a test are answered before it is ready.
v8.setFlagsFromString('--liftoff-only');

const [directory, trace] = process.argv.slice(2);
const home = pathToFileURL(path.resolve(directory) + '/').href;

// The bundle is made for a browser's worker. It gets what it expects of one, the compiled module, and a way out for its
// bridge; each replacement must find its place, because another version of the package may look different.
function loadBundle() {
	const replacements = [
		['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
		['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.processorModule,'],
		['const wasmBridge = new wasm_bridge_1.WasmBridge();',
			'const wasmBridge = globalThis.processorBridge = new wasm_bridge_1.WasmBridge();'],
	];
	let text = fs.readFileSync(path.join(directory, 'engine_bundle.node.js'), 'utf8');

	for (const [from, to] of replacements) {
		if (!text.includes(from))
			throw new Error(`the bundle has no '${from}'`);
		text = text.replace(from, () => to);
	}
	for (const [name, value] of Object.entries({
		self: globalThis,
		location: {href: home},
		WorkerGlobalScope: function () {},
		processorModule: new Uint8Array(fs.readFileSync(path.join(directory, 'trace_processor.wasm'))),
	}))
		Object.defineProperty(globalThis, name, {value, configurable: true, writable: true});
	vm.runInThisContext(text);
}

async function openProcessor() {
	const {EngineBase} = await import(home + 'engine.mjs');
	const channel = new MessageChannel();

	class Processor extends EngineBase {
		mode = 'WASM';
		id = 'query';
		rpcSendRequestBytes(bytes) {
			channel.port2.postMessage(bytes);
		}
	}
	const processor = new Processor();

	channel.port2.onmessage = ({data}) => {
		if (data instanceof Uint8Array)
			processor.onRpcResponseBytes(data);
	};
	loadBundle();
	globalThis.processorBridge.initialize(channel.port1);
	return processor;
}

const text = (value) => value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
const warn = console.warn;

// The answers to "parse" come through a path of the bundle that warns of them.
console.warn = (...words) => JSON.stringify(words).includes('Unexpected QueryResult') || warn(...words);
try {
	const processor = await openProcessor();
	const bytes = fs.readFileSync(trace);
	const piece = 32 << 20;

	for (let at = 0; at < bytes.length; at += piece)
		await processor.parse(new Uint8Array(bytes.subarray(at, at + piece)));
	await processor.notifyEof();
	for (const line of fs.readFileSync(0, 'utf8').split('\n').filter((each) => each)) {
		const [name, query] = line.split('\t');
		const answer = await processor.query(query);
		const columns = answer.columns();

		for (const row = answer.iter({}); row.valid(); row.next())
			console.log([name, ...columns.map((column) => text(row.get(column)))].join('\t'));
	}
	process.exit(0);
} catch (error) {
	console.error(`query.mjs: ${error.message ?? error}`);
	process.exit(1);
}
