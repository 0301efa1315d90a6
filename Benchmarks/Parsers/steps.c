// Counts the instructions of a program by stepping through it: slow, but exact, and it works for
// instructions that callgrind does not know (SSE4.2 string compares, AVX-512).
//
//   steps PROGRAM ARGUMENT...
//
// Counts from the first SIGUSR1 that the program sends to itself to the second, as the drivers do
// when STEPS is set, and prints the number on standard error. One thread only.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: steps PROGRAM ARGUMENT...\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        setenv("STEPS", "1", 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(arguments[1], arguments + 1);
        perror(arguments[1]);
        _exit(127);
    }
    unsigned long long steps = 0;
    int status, marks = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGUSR1) marks++;
        if (marks == 1) steps++;
        long signal = WSTOPSIG(status);
        if (signal == SIGTRAP || signal == SIGUSR1) signal = 0;
        if (ptrace(marks == 1 ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, (void *)signal) < 0)
            break;
    }
    if (marks != 2 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
    fprintf(stderr, "%llu\n", steps);
}
