# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# A server that does not do as Redis does, or stands before one: fake.py HOW [PORT N]. Prints its port.
#   silent, garbage, huge, many, drip   what it answers: nothing; no RESP; a string of 2^40 bytes; an array
#                                       of 2^30 elements, of arrays; an answer that goes on for ever
#   moved, asks, old, evicts, replica, loading   that its index is elsewhere, and so on
#   repeats         that it does not know the command, with all that came with it
#   cut PORT N      hands all on to the Redis on PORT, and ends after N bytes of its answers
import socket, sys, threading, time

how = sys.argv[1]
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
left = int(sys.argv[3]) if how == 'cut' else 0


def command(file):
    line = file.readline()
    if not line:
        return None
    words = []
    for _ in range(int(line[1:])):
        words.append(file.read(int(file.readline()[1:]) + 2)[:-2])
    return words


def info():
    lines = {'redis_version': '7.0.15', 'maxmemory_policy': 'noeviction', 'loading': '0', 'aof_enabled': '0'}
    if how == 'old':
        lines['redis_version'] = '6.2.1'
    if how == 'evicts':
        lines['maxmemory_policy'] = 'allkeys-lru'
    if how == 'loading':
        lines['loading'] = '1'
    text = ''.join('%s:%s\r\n' % line for line in lines.items()).encode()
    return b'$%d\r\n%s\r\n' % (len(text), text)


def answer(words):
    if how == 'garbage':
        return b'HTTP/1.1 400 Bad Request\r\n\r\n'
    if how == 'huge':
        return b'$%d\r\n' % (1 << 40) + b'x' * 100000
    if how == 'many':
        return b'*1073741824\r\n' * 7
    if how == 'repeats':
        return b"-ERR unknown command '%s', with args beginning with: '%s'\r\n" % (words[0], b"' '".join(words[1:]))
    if words[0] == b'INFO':
        return info()
    if words[0] == b'CONFIG':
        return b'-NOPERM this user has no permissions to run the \'config|get\' command\r\n'
    if how == 'moved':
        return b'-MOVED 3999 10.1.2.3:6381\r\n'
    if how == 'asks':
        return b'-ASK 3999 10.1.2.4:6382\r\n'
    if how == 'replica' and words[0] != b'HMGET':
        return b'-READONLY You can\'t write against a read only replica.\r\n'
    return b'*4\r\n' + b'$-1\r\n' * 4


def serve(client):
    file = client.makefile('rwb')
    try:
        while (words := command(file)) is not None:
            if how == 'silent':
                time.sleep(1000)
            while how == 'drip':
                file.write(b'+OK'[:1])
                file.flush()
                time.sleep(0.1)
            file.write(answer(words))
            file.flush()
    except OSError:
        pass


def hand_on(a, b, counts):
    global left
    try:
        while data := a.recv(65536):
            if counts:
                data = data[:left]
                left -= len(data)
            b.sendall(data)
            if counts and not left:
                break
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


while True:
    client, _ = listener.accept()
    if how == 'cut':
        server = socket.create_connection(('127.0.0.1', int(sys.argv[2])))
        threading.Thread(target=hand_on, args=(client, server, False), daemon=True).start()
        threading.Thread(target=hand_on, args=(server, client, True), daemon=True).start()
    else:
        threading.Thread(target=serve, args=(client,), daemon=True).start()
